/* Explorer: double descent (chapters 5 and 5b). */
((X) => {
"use strict";
const {descentErrors, golden, logspace, plain, plot, round, settled, show, slider, words} = X;
const LEAST = 0.05;
const MOST = 20;
const ridgeless = x => x === 0 ? "0⁺ (ridgeless)" : plain(x);
const near = logspace(1e-4, 0.1, 40).flatMap(e => [1 - e, 1 + e]);  // the peak may be a needle
const TAUS = [...logspace(LEAST, MOST, 201), ...near].sort((a, b) => a - b);

/** The highest interior maximum of the ICL error, or null. */
function peakOf(error, taus, values, lambda) {
  if (lambda === 0) return {tau: 1, height: Infinity};
  let peak = null;
  for (let i = 1; i + 1 < taus.length; i++) {
    const tops = values[i] > values[i - 1] && values[i] >= values[i + 1];
    if (!tops || (peak && values[i] <= peak.height)) continue;
    const at = Math.exp(golden(u => -error(Math.exp(u)).icl, Math.log(taus[i - 1]),
      Math.log(taus[i + 1]), 50));
    peak = {tau: at, height: error(at).icl};
  }
  return peak;
}

/** What was recorded at d = 100 at just these settings: [{tau, icl, idg}], means over sets. */
function recordedAt({alpha, kappa, rho, lambda}) {
  const found = (X.recorded || []).find(one => one.alpha === alpha
    && Number(one.kappa) === kappa && one.rho === rho && one.ridge === lambda);
  return found ? found.points.map(([tau, icl, idg]) => ({tau, icl, idg})) : [];
}

X.explorers.descent = {
  title: "double descent",
  presets: [
    {name: "the peak", settings: {}},
    {name: "a ridge removes it", settings: {lambda: 0.1}},
    {name: "endless tasks: one curve", settings: {kappa: Infinity}},
    {name: "short contexts", settings: {alpha: 1}},
    {name: "long contexts", settings: {alpha: 100}},
    {name: "a gap that stays", settings: {kappa: 0.5, alpha: 100, tau: 20, lambda: 1e-3}},
  ],
  controls: [slider("alpha", "context length ~α~ = ~ℓ~/~d~", round(0.2, 200), 10),
    slider("kappa", "task diversity ~κ~ = ~k~/~d~", [...round(0.1, 50), Infinity], 0.5),
    slider("rho", "label noise ~ρ~", [0, ...round(0.001, 1)], 0.01),
    slider("lambda", "ridge ~λ~", [0, ...round(1e-6, 10)], 1e-5, ridgeless),
    slider("tau", "read off at ~τ~ = ~n~/~d~²", round(LEAST, MOST), 1.5)],
  panels: [{name: "Test error against the number of practice prompts", height: 280, legend: [
    ["~e~_{ICL}, fresh tasks", "ICL"], ["~e~_{IDG}, practised tasks", "IDG"],
    ["1 + ~ρ~: answering 0", "thin"], ["trained at ~d~ = 100 (recorded)", "recorded", true],
    ["~e~_{ICL} before your last move", "ghost"]]}],
  compute(state) {
    const {alpha, kappa, rho, lambda, tau} = state;
    const error = at => descentErrors(alpha, kappa, at, rho, lambda);
    const here = error(tau);
    const taus = TAUS.filter(v => lambda > 0 || v !== 1);
    const found = taus.map(error);
    const icl = taus.map((v, i) => [v, found[i].icl]);
    const idg = taus.map((v, i) => [v, found[i].idg]);
    const peak = peakOf(error, taus, found.map(e => e.icl), lambda);
    const dots = recordedAt(state);
    const gap = here.icl === Infinity ? NaN : settled(here.icl - here.idg, here.icl);
    const height = peak && peak.height < Infinity ? `, with ${show(peak.height, 3)}`
      : ", where it is infinite";
    const word = peak ? `~e~_{ICL} peaks at ~τ~ = ${show(peak.tau, 3)}${height}.`
      : "There is no peak.";
    const fine = dots.length ? "Dots: models trained at ~d~ = 100." : "";
    return {here, icl, idg, dots, fine, rows: [
      ["icl", "~e~_{ICL} at ~τ~", here.icl], ["idg", "~e~_{IDG} at ~τ~", here.idg],
      ["gap", "memorization gap ~e~_{ICL} − ~e~_{IDG}", gap],
      ["nu", "effective ridge ~ν~ (for endless prompts)", settled(here.nu)],
      ["peak", "peak of ~e~_{ICL} at ~τ~ =", peak ? peak.tau : NaN],
      ["height", "height of the peak", peak ? peak.height : NaN]],
      summary: `At ~τ~ = ${plain(tau)}: ~e~_{ICL} = ${show(here.icl, 3)}, `
        + `~e~_{IDG} = ${show(here.idg, 3)}. ${word}`};
  },
  draw([panel], {rho, tau}, {here, icl, idg, dots, summary}, before) {
    const ghost = before ? [{points: before.result.icl, kind: "ghost"}] : [];
    plot(panel, {label: `Both test errors against tau. ${words(summary)}`,
      x: {label: "~τ~ = ~n~/~d~²", short: "~τ~", log: true, range: [LEAST, MOST]},
      y: {log: true, range: [1e-3, 100]},
      lines: [...ghost, {points: [[LEAST, 1 + rho], [MOST, 1 + rho]], kind: "thin"},
        {points: idg, kind: "IDG", name: "practised tasks"},
        {points: icl, kind: "ICL", name: "fresh tasks"}],
      marks: [{at: tau, text: `~τ~ = ${plain(tau)}`, drag: "tau"}],
      dots: [...dots.map(one => ({at: [one.tau, one.icl], kind: "recorded"})),
        {at: [tau, here.idg], kind: "IDG"}, {at: [tau, here.icl], kind: "ICL"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
