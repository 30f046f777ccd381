/* Explorer: a window carried to other tasks (chapter 2). */
((X) => {
"use strict";
const {CLASS, CONTEXT, DIMENSION, NOISE, W_MAX, logspace, plot, population, round, show, slider,
  steady, words} = X;
const RATIOS = logspace(0.1, 10, 33);

X.explorers.mismatch = {
  title: "the mismatch", chips: 0,
  presets: [
    {name: "noisy readings", settings: {}},
    {name: "precise readings",
      settings: {n: 200, sigma: 0.01, d: 8, family: "relu"}},
    {name: "the paper’s Figure 5", settings: {n: 200, sigma: 0.01, d: 5, family: "affine"}},
  ],
  controls: [slider("ratio", "steepness, new tasks over old, ~L~′/~L~", round(0.1, 10), 3.2),
    {...CONTEXT, start: 2000}, {...NOISE, label: "noise over steepness, ~σ~/~L~", start: 1},
    {...DIMENSION, start: 5}, CLASS],
  panels: [
    {name: "How much worse than the best window", legend: [
      ["loss of the learned window over the least loss", "exact"], ["your tasks", "target", true],
      ["before your last move", "ghost"]]},
    {name: "Loss on the test tasks against the window", folded: true, legend: [["loss on tasks of ~L~′", "exact"],
      ["the window it has, ~w~^{*}(~L~)", "target", true],
      ["the best, ~w~^{*}(~L~′)", "softmax", true], ["before your last move", "ghost"]]},
  ],
  compute({ratio, family, n, sigma, d}) {
    const here = population(family, d, n, 1, sigma);
    const w = here.best().w;
    const trial = scale => {
      const model = population(family, d, n, scale, sigma, here.method);
      const [moved, best] = [model.at(w), model.best()];
      return {model, moved, best, worse: Math.max(moved.loss / best.loss, 1)};
    };
    const found = trial(ratio);
    const few = Math.min(here.best().effective, found.best.effective) < 10;
    const rough = !few ? "" : here.method === "drawn" ? "Averages over drawn contexts."
      : "A window of fewer than ten tokens: the closed form is rough here.";
    const curve = RATIOS.map(r => [r, trial(r).worse]);
    return {...found, w, here: here.best(), curve, on: found.model.curve("loss"), rows: [
      ["pretrained", "window of pretraining ~w~^{*}(~L~)", w],
      ["matched", "best window for the test ~w~^{*}(~L~′)", found.best.w],
      ["moved", "test loss at ~w~^{*}(~L~)", found.moved.loss],
      ["best", "test loss at ~w~^{*}(~L~′)", found.best.loss],
      ["worse", "ratio of the two", found.worse]],
      fine: rough,
      summary: `On tasks ${show(ratio, 3)} times as steep the learned window has `
        + `${show(found.worse, 3)} times the least possible loss.`};
  },
  draw([curve, loss], {ratio}, {w, moved, best, worse, curve: points, on, summary}, before) {
    const ghost = key => before ? [{points: before.result[key], kind: "ghost"}] : [];
    const highest = Math.max(...points.map(([, y]) => y), 10);
    plot(curve, {label: `Ratio of losses against L prime over L. ${words(summary)}`,
      x: {label: "steepness, new tasks over old, ~L~′/~L~", short: "~L~′/~L~", log: true,
        range: [0.1, 10]},
      y: {label: "loss over the least", log: true, range: [0.9, steady(curve, 1, highest, 1)[1]]},
      lines: [...ghost("curve"), {points, kind: "exact", name: "ratio"}],
      marks: [{at: 1}, {at: ratio, kind: "target", drag: "ratio"}],
      dots: [{at: [ratio, worse], kind: "target"}]});
    const low = Math.min(best.loss, moved.loss) / 2;
    plot(loss, {label: `Loss on the test tasks against the window; the unit uses ${show(w, 3)}, `
        + `the best is ${show(best.w, 3)}.`,
      x: {label: "window parameter ~w~ (narrower →)", short: "~w~", log: true, range: [0.1, W_MAX]},
      y: {label: "loss", log: true, range: steady(loss, low, on[0][1] * 1.2, 4)},
      lines: [...ghost("on"),
        {points: on, kind: "exact", name: "loss", ends: "fewer than two tokens left"}],
      marks: [{at: w, kind: "target"}, {at: best.w, kind: "softmax"}],
      dots: [{at: [best.w, best.loss], kind: "softmax"}, {at: [w, moved.loss], kind: "target"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
