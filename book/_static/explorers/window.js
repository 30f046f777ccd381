/* Explorer: the best window (chapter 1). */
((X) => {
"use strict";
const {CLASS, CONTEXT, DIMENSION, NOISE, W_MAX, attention, even, plot, population, round, show,
  slider, steady, tokens, words} = X;
const BEST = 0;                                     // a window of 0 stands for "the best one"

/** What a reader has to know of how the loss was found. */
const method = model => model.method === "closed" ? "Closed form for long contexts."
  : "Too few tokens for the closed form: averages over drawn contexts, always the same ones.";

X.explorers.window = {
  title: "the window",
  presets: [
    {name: "a clear dip", settings: {}},
    {name: "mostly noise: a wide window", settings: {sigma: 2}},
    {name: "where it breaks: waves", settings: {n: 20, sigma: 0.01, d: 5, L: 8, family: "cosine"}},
    {name: "few examples, as in the paper’s Figure 3",
      settings: {n: 20, sigma: 0.01, d: 5, L: 1, family: "relu"}},
    {name: "ten times as many, its Figure 4",
      settings: {n: 200, sigma: 0.01, d: 5, L: 1, family: "relu"}},
    {name: "on a circle, like its Figure 1", settings: {n: 30, sigma: 0.5, d: 2, L: 6}},
  ],
  controls: [CONTEXT, NOISE, slider("L", "steepness ~L~", round(0.1, 10), 1), DIMENSION, CLASS,
    slider("w", "window shown below", [BEST, ...round(0.1, W_MAX)], BEST,
      w => w === BEST ? "the best, ~w~^{*}" : `~w~ = ${X.plain(w)}`)],
  panels: [
    {name: "Loss against the window ~w~", height: 250, legend: [["loss", "exact"],
      ["bias²", "signal"], ["variance: noise", "noise"],
      ["variance: scatter of the task’s values", "dotted"], ["loss before your last move", "ghost"]]},
    {name: "Attention on one drawn context, by angle to the query", height: 170, folded: true, legend: [
      ["weight of a token, against the largest", "softmax"],
      ["the window, exp(~w~ cos ~θ~), same scale", "thin"]]},
  ],
  compute({family, n, sigma, L, d, w}) {
    const model = population(family, d, n, L, sigma);
    const best = model.best();
    const used = w === BEST ? best : model.at(w);
    const t = tokens(n, d);
    const drawn = attention(t, used.w);
    const curves = Object.fromEntries(["bias", "noise", "scatter", "loss"]
      .map(part => [part, model.curve(part)]));
    const angle = drawn.half * 180 / Math.PI;
    const yours = w === BEST ? ""
      : used.few ? " Your window holds too few tokens for the closed form."
      : ` Your window ~w~ = ${show(w, 3)} has ${show(used.loss / best.loss, 3)} times that loss.`;
    return {model, best, used, t, drawn, curves, angle, rows: [
      ["w", "best window ~w~^{*}", best.w], ["loss", "loss at ~w~^{*}", best.loss],
      ["bias", "of which bias²", best.bias], ["noise", "of which noise", best.noise],
      ["scatter", "of which scatter", best.scatter],
      ["effective", "tokens averaged over, ~n~_{eff}", best.effective],
      ["drawn", "~n~_{eff} of the drawn context", drawn.effective],
      ["half", "half of its weight within (degrees)", angle]],
      fine: method(model),
      summary: `The best window, ~w~^{*} = ${show(best.w, 3)}, averages over `
        + `${show(best.effective, 2)} tokens; the loss is ${show(best.loss, 3)}.${yours}`};
  },
  draw([loss, strip], {w}, {best, used, t, drawn, curves, angle, summary}, before) {
    const ends = "fewer than two tokens left";
    const lines = [["bias", "signal", "bias²"], ["noise", "noise", "noise"],
      ["scatter", "dotted", "scatter"], ["loss", "exact", "loss"]]
      .map(([part, kind, name]) => ({points: curves[part], kind, name}));
    lines[3].ends = ends;
    if (before) lines.unshift({points: before.result.curves.loss, kind: "ghost"});
    const start = curves.loss[0][1];
    plot(loss, {label: `Loss, bias squared and variance against the window. ${words(summary)}`,
      x: {label: "window parameter ~w~ (narrower →)", short: "~w~", log: true, range: [0.1, W_MAX]},
      y: {log: true, range: steady(loss, best.loss / 20, start * 1.2, 4)}, lines,
      marks: [{at: best.w, text: w === BEST ? `~w~^{*} = ${show(best.w, 3)}` : ""},
        {at: used.w, text: w === BEST ? "" : `~w~ = ${show(w, 3)}`, kind: "softmax", drag: "w"}],
      dots: [{at: [best.w, best.loss], kind: "exact"},
        {at: [used.w, used.few ? NaN : used.loss], kind: "softmax"}]});
    const top = Math.max(...drawn.weights);
    const nearest = Math.max(...t);
    const shown = t.map((value, i) => [Math.acos(value) * 180 / Math.PI, drawn.weights[i] / top])
      .filter(([, weight]) => weight > 2e-3 || t.length <= 1000);
    const shape = even(0, 180, 1).map(a =>
      [a, Math.exp(used.w * (Math.cos(a * Math.PI / 180) - nearest))]);
    const within = `half of the weight lies within ${show(angle, 2)} degrees`;
    plot(strip, {label: `Weight of each of ${t.length} tokens against its angle to the query; ${within}.`,
      x: {label: "angle to the query (degrees)", short: "angle", range: [0, 180]},
      y: {hidden: true, range: [-0.06, 1.05]},
      lines: [{points: shown.map(([a]) => [a, -0.05]), kind: "rug", sticks: true},
        {points: shown, kind: "softmax", sticks: true},
        {points: shape, kind: "thin", name: "the window there"}],
      marks: [{at: angle, text: "half of the weight"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
