/* The kinds of controls, the grids of their sliders, and those that several explorers share. */
((X) => {
"use strict";
const {plain} = X;

/** A slider over rising `values`. Between two of them a setting is kept as a link gives it. */
const slider = (key, label, values, start, text = plain) =>
  ({key, label, values, start, text, whole: values.every(v => Number.isInteger(v))});

/** A choice among `options`, [value, words] each. */
const choice = (key, label, options, start) => ({key, label, options, start});

const NICE = [
  ...Array.from({length: 20}, (_, i) => 1 + i / 20),
  ...Array.from({length: 30}, (_, i) => 2 + i / 10),
  ...Array.from({length: 25}, (_, i) => 5 + i / 5),
];

/** Round numbers from low to high in steps of 2 to 5 %: 1, 1.05, …, 2, 2.1, …, 5, 5.2, …, 10. */
function round(low, high) {
  const found = [];
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++) {
    for (const m of NICE) found.push(Number((m * 10 ** e).toPrecision(3)));
  }
  return found.filter(v => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
}

/** The whole ones among them, and those near the others. */
const whole = (low, high) => [...new Set(round(low, high).map(v => Math.round(v)))];

/** From low to high in equal steps. */
const even = (low, high, step) => Array.from({length: Math.round((high - low) / step) + 1},
  (_, i) => Number((low + i * step).toPrecision(6)));

const CLASS = choice("family", "class of tasks",
  [["affine", "affine"], ["relu", "ReLU"], ["cosine", "cosine"]], "affine");
const CONTEXT = slider("n", "length of the prompt ~n~", whole(10, 10000), 1000);
const DIMENSION = slider("d", "dimension ~d~", even(2, 30, 1), 3);
const NOISE = slider("sigma", "noise ~σ~", round(0.01, 2), 0.4);

Object.assign(X, {CLASS, CONTEXT, DIMENSION, NOISE, choice, even, round, slider, whole});
})(globalThis.iclExplorers ??= {explorers: {}});
