/* The opening picture of chapter 6: the error of a rare feature, drawn up to a moment of training.

   iclutils/stages/theory/meanfield.py (flow), on an axis of time that is not logarithmic. */
((X) => {
"use strict";
const {even, flow, kept, plot, show, slider, whole, words} = X;
const P1 = 0.5;
const LONGER = 1.25;                                // the axis, in units of the time to the error 0.1
const SHOWN = 55;                                   // % of it at first: the middle of the plateau

/** The curves of a rare query and of the dominant one, and when the axis ends. */
const solved = kept(4, K => {
  const [rare, top] = [flow("rare", K, P1), flow("dominant", K, P1)];
  return {rare: rare.points, top: top.points, end: LONGER * rare.passed[0.1].t};
});

/** The value of a curve at a time, straight between its points. */
function at(points, t) {
  const i = points.findIndex(point => point.t >= t);
  if (i <= 0) return i < 0 ? points[points.length - 1].error : points[0].error;
  const [a, b] = [points[i - 1], points[i]];
  return a.error + (b.error - a.error) * (t - a.t) / (b.t - a.t);
}

X.explorers.plateau = {
  title: "a plateau",
  small: true,
  presets: [
    {name: "a hundred features", settings: {}},
    {name: "twenty", settings: {K: 20, done: 100}},
    {name: "a thousand", settings: {K: 1000, done: 100}},
  ],
  controls: [slider("done", "training done", even(0, 100, 1), SHOWN, done => `${done} %`),
    slider("K", "number of features ~K~", whole(12, 1000), 100)],
  panels: [{name: "Error while the head trains", height: 240,
    legend: [["on a rare feature", "target"], ["on the dominant feature", "dominant"]]}],
  compute({done, K}) {
    const {rare, top, end} = solved(K);
    const now = done / 100 * end;
    const error = at(rare, now);
    const until = points => [...points.filter(({t}) => t < now).map(({t, error}) => [t, error]),
      [now, at(points, now)]];
    return {now, end, error, rare: until(rare), top: until(top), rows: [
      ["error", "error on a rare feature", error], ["time", "time", now]],
      summary: `After ${done} % of the time shown the error on a rare feature is ${show(error, 2)}.`};
  },
  draw([panel], _, {now, end, error, rare, top, summary}) {
    plot(panel, {label: `Errors against time. ${words(summary)}`,
      x: {label: "time (steps × their size)", short: "time", range: [0, end]},
      y: {label: "error", range: [0, 0.7]},
      lines: [{points: top, kind: "dominant", name: "dominant"},
        {points: rare, kind: "target", name: "rare"}],
      dots: [{at: [now, error], kind: "target"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
