/* Explorer: what linear attention lacks, the offset or the window (chapter 3).

   iclutils/window/theory/linear_attention.py (LinearUnit), and the softmax window of window_theory.js. */
((X) => {
"use strict";
const {DIMENSION, NOISE, choice, even, logspace, plot, population, show, slider, taskClass, whole,
  words} = X;
const SHORTEST = 10;
const LONGEST = 10000;
const LENGTHS = logspace(SHORTEST, LONGEST, 61);
const STEPS = [10, 30, 100, 300, 1000, 10000];       // where the softmax head is solved

/** Linear attention before tasks of dimension d whose constant is `offset` times the paper's. */
function linearUnit(family, d, offset) {
  const {terms, rest, mean} = taskClass(family, d, 1, 64);
  const own = 1 / 3;                                // of c_0 and F: the variance of the constant
  const constant = mean - own + offset * offset * own;
  const power = terms.reduce((total, [, c]) => total + c, rest) + constant;
  const linear = terms[0][1];
  const gain = (n, c, axes, sigma) => n * c * c
    / (axes * (power + sigma * sigma) + (n - 1) * c);
  return {
    minimum: (n, sigma) => power - gain(n, linear, d, sigma),
    withConstant: (n, sigma) => power - gain(n, linear, d, sigma) - gain(n, constant, 1, sigma),
    floor: power - linear,
  };
}

/** The softmax head's least loss; the constant of the tasks does not enter it. */
const softmaxAt = (family, d, n, sigma) => population(family, d, n, 1, sigma).best().loss;

X.explorers.offset = {
  title: "the missing constant",
  presets: [
    {name: "five dimensions", settings: {}},
    {name: "two dimensions", settings: {d: 2}},
    {name: "ten dimensions", settings: {d: 10}},
    {name: "no constant in the tasks", settings: {offset: 0}},
    {name: "much noise", settings: {sigma: 1}},
  ],
  controls: [slider("offset", "size of the tasks’ offset", even(0, 3, 0.05), 1,
    x => x === 1 ? "as in the paper" : `${X.plain(x)} times`),
  slider("n", "length of the prompt ~n~", whole(SHORTEST, LONGEST), 200), {...NOISE, start: 0.01},
  {...DIMENSION, start: 5},
  choice("family", "class of tasks", [["affine", "affine (ramps)"], ["relu", "ReLU (kinks)"]],
    "relu"),
  {...choice("one", "a constant 1 in each example", [["no", "no"], ["yes", "yes"]], "yes"),
    aside: true}],
  panels: [{name: "Least error against the length of the prompt", height: 300, legend: [
    ["linear attention", "linear"], ["softmax attention", "softmax"],
    ["limit of linear attention for long prompts", "thin"],
    ["linear attention, with a constant 1 in each example", "mended"],
    ["linear attention before your last move", "ghost"]]}],
  compute({family, d, sigma, offset, n, one}) {
    const unit = linearUnit(family, d, offset);
    const linear = unit.minimum(n, sigma);
    const constant = unit.withConstant(n, sigma);
    const softmax = softmaxAt(family, d, n, sigma);
    const points = STEPS.map(length => [length, softmaxAt(family, d, length, sigma)]);
    const [gained, left, apart] = [linear / constant, constant / softmax, linear / softmax];
    const repaired = one === "yes";
    const rows = [["linear", "linear attention", linear], ["constant", "with a constant", constant],
      ["softmax", "softmax attention", softmax],
      ["floor", "limit of linear attention for long prompts", unit.floor],
      ["gained", "what the constant 1 gains (factor)", gained],
      ["left", "what softmax then gains (factor)", left],
      ["apart", "linear over softmax attention (factor)", apart]];
    const others = repaired ? ["apart"] : ["constant", "gained", "left"];
    return {unit, linear, constant, softmax,
      curves: {linear: LENGTHS.map(length => [length, unit.minimum(length, sigma)]),
        constant: LENGTHS.map(length => [length, unit.withConstant(length, sigma)]),
        softmax: [...points, [n, softmax]].sort((a, b) => a[0] - b[0])},
      rows: rows.filter(([key]) => !others.includes(key)),
      summary: repaired
        ? `At ~n~ = ${n} the constant 1 divides linear attention’s error by ${show(gained, 2)}; `
          + `softmax divides what is left by ${show(left, 2)}.`
        : `At ~n~ = ${n} the error of linear attention is ${show(apart, 2)} times that of softmax `
          + "attention."};
  },
  draw([panel], {n, one}, {unit, linear, constant, softmax, curves, summary}, before) {
    const ghost = before ? [{points: before.result.curves.linear, kind: "ghost"}] : [];
    const floor = [[SHORTEST, unit.floor], [LONGEST, unit.floor]];
    const repaired = one === "yes";
    const heads = repaired ? "three" : "two";
    const entry = panel.parentElement.querySelector('.x-legend [data-kind="mended"]');
    entry.style.visibility = repaired ? "" : "hidden";     // its place stays, so nothing jumps
    plot(panel, {label: `Errors of ${heads} heads by length of the prompt. ${words(summary)}`,
      x: {label: "length of the prompt ~n~", short: "~n~", log: true, range: [SHORTEST, LONGEST]},
      y: {label: "error", log: true, range: [1e-5, 10]},
      lines: [...ghost, {points: floor, kind: "thin"},
        {points: curves.linear, kind: "linear", name: "linear"},
        ...repaired ? [{points: curves.constant, kind: "mended", name: "with a constant"}] : [],
        {points: curves.softmax, kind: "softmax", name: "softmax"}],
      marks: [{at: n, text: `~n~ = ${n}`, drag: "n"}],
      dots: [{at: [n, linear], kind: "linear"}, {at: [n, softmax], kind: "softmax"},
        ...repaired ? [{at: [n, constant], kind: "mended"}] : []]});
  },
};
Object.assign(X, {linearUnit});
})(globalThis.iclExplorers ??= {explorers: {}});
