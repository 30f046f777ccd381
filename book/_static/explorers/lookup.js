/* Explorer: letters and numbers, linear against softmax attention (chapter 7).

   iclutils/stages/theory/equal_features.py (Lookup), and linear attention's closed form on K letters
   (iclutils/window/theory/linear_attention.py). */
((X) => {
"use strict";
const {even, firstWhere, golden, lgamma, logspace, plain, plot, round, show, slider, steady,
  words} = X;
const LEAST = 0.5;
const MOST = 64;
const PER_LETTER = logspace(LEAST, MOST, 57);
const WIDEST = 12;                                  // of the axis of w

/** The counts of one letter among N tokens and their probabilities, but for the rarest. */
function countsOf(K, N) {
  const p = 1 / K;
  const spread = 9 * Math.sqrt(N * p * (1 - p)) + 12;
  const from = Math.max(0, Math.floor(N * p - spread));
  const to = Math.min(N, Math.ceil(N * p + spread));
  return Array.from({length: to - from + 1}, (_, i) => {
    const n = from + i;
    const log = lgamma(N + 1) - lgamma(n + 1) - lgamma(N - n + 1);
    return [n, Math.exp(log + n * Math.log(p) + (N - n) * Math.log(1 - p))];
  });
}

/** The exact loss of the window w on K letters and N tokens, at noise variance rho. */
function lookupLoss(w, K, N, rho, counts = countsOf(K, N)) {
  const q = 1 / (K - 1);
  let loss = 0;
  for (const [n, probability] of counts) {
    const a = n / (n + (N - n) * Math.exp(-w));
    const others = Math.max(N - n, 1);
    const rest = (1 - a) ** 2 * (1 + q + (1 - q + rho) / others);
    loss += probability * (rest + rho * a * a / Math.max(n, 1));
  }
  return loss;
}

function bestLookup(K, N, rho) {
  const counts = countsOf(K, N);
  const w = golden(at => lookupLoss(at, K, N, rho, counts), 0, 30, 60);
  return {w, loss: lookupLoss(w, K, N, rho, counts)};
}

/** The posterior mean's error; no predictor has a smaller one. */
const bayes = (K, N, rho) =>
  countsOf(K, N).reduce((total, [n, probability]) => total + probability * rho / (n + rho), 0);

/** Linear attention's least loss on K letters: LinearUnit of power 1, mean 0, linear 1. */
const linearLookup = (K, N, rho) => 1 - N / (K * (1 + rho) + N - 1);

/** The shortest prompt for which softmax attention is better, in examples per letter, or NaN. */
function crossing(K, rho) {
  const better = N => bestLookup(K, N, rho).loss < linearLookup(K, N, rho);
  const longest = MOST * K;
  return better(longest) ? firstWhere(1, longest, better) / K : NaN;
}

X.explorers.lookup = {
  title: "letters and numbers",
  presets: [
    {name: "as much noise as signal", settings: {}},
    {name: "little noise", settings: {rho: 0.05}},
    {name: "much noise", settings: {rho: 10}},
    {name: "many letters", settings: {K: 40}},
  ],
  controls: [slider("c", "examples per letter, ~N~/~K~", round(LEAST, MOST), 4),
    slider("rho", "noise ~σ~² (the signal has 1)", round(0.02, 20), 1),
    slider("K", "letters ~K~", even(3, 64, 1), 8)],
  panels: [
    {name: "Error against the length of the prompt", height: 260, legend: [
      ["linear attention", "linear"], ["softmax attention, best sharpness", "softmax"],
      ["the best that any predictor can do", "thin"],
      ["softmax attention before your last move", "ghost"]]},
    {name: "Softmax’s error against its sharpness: a right letter counts exp(~w~), others 1",
      height: 220, folded: true, legend: [
      ["error at the sharpness ~w~", "softmax"], ["log(1 + ~Λ~)", "noise"]]},
  ],
  compute({c, rho, K}) {
    const N = Math.max(1, Math.round(c * K));
    const best = bestLookup(K, N, rho);
    const [linear, least] = [linearLookup(K, N, rho), bayes(K, N, rho)];
    const law = Math.log1p(N / rho);
    const at = crossing(K, rho);
    const lengths = [...new Set(PER_LETTER.map(each => Math.max(1, Math.round(each * K))))];
    const counts = countsOf(K, N);
    const against = f => lengths.map(length => [length / K, f(length)]);
    const from = Number.isNaN(at) ? "Linear is better at every length."
      : `Softmax is better from ${show(at, 2)} examples per letter on.`;
    return {N, best, linear, law, curves: {
      linear: against(length => linearLookup(K, length, rho)),
      softmax: against(length => bestLookup(K, length, rho).loss),
      least: against(length => bayes(K, length, rho)),
      window: even(0, WIDEST, 0.1).map(w => [w, lookupLoss(w, K, N, rho, counts)])}, rows: [
      ["N", "examples in the prompt, ~N~", N, plain], ["linear", "linear attention", linear],
      ["softmax", "softmax attention", best.loss], ["bayes", "best possible", least],
      ["w", "best sharpness ~w~^{*}", best.w], ["law", "log(1 + ~Λ~), ~Λ~ = ~N~/~σ~²", law],
      ["crossing", "softmax is better from ~N~/~K~ =", at]],
      summary: `With ${K} letters, noise ~σ~² = ${show(rho, 2)} and ${show(N / K, 3)} examples `
        + `per letter: linear ${show(linear, 3)}, softmax ${show(best.loss, 3)}, `
        + `best possible ${show(least, 3)}. ${from}`};
  },
  draw([error, window], {K}, {N, best, linear, law, curves, summary}, before) {
    const ghost = before ? [{points: before.result.curves.softmax, kind: "ghost"}] : [];
    plot(error, {label: `Errors of both heads against prompt length. ${words(summary)}`,
      x: {label: "examples per letter, ~N~/~K~", short: "~N~/~K~", log: true, range: [LEAST, MOST]},
      y: {label: "mean squared error", log: true, range: [steady(error, 1e-2, 1.01, 2)[0], 2]},
      lines: [...ghost, {points: curves.least, kind: "thin", name: "best possible"},
        {points: curves.linear, kind: "linear", name: "linear"},
        {points: curves.softmax, kind: "softmax", name: "softmax"}],
      marks: [{at: N / K, drag: "c"}],
      dots: [{at: [N / K, linear], kind: "linear"}, {at: [N / K, best.loss], kind: "softmax"}]});
    plot(window, {label: "Softmax attention’s error against its sharpness, least at "
        + `${show(best.w, 3)}.`,
      x: {label: "sharpness ~w~ (narrower →)", short: "~w~", range: [0, WIDEST]},
      y: {label: "mean squared error", log: true, range: [1e-2, 2]},
      lines: [{points: curves.window, kind: "softmax", name: "error"}],
      marks: [{at: best.w, text: `~w~^{*} = ${show(best.w, 3)}`}, {at: law, kind: "noise"}],
      dots: [{at: [best.w, best.loss], kind: "softmax"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
