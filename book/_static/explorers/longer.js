/* The opening picture of chapter 5b: the authors' wide transformers while they train. The curves
   are in longer_curves.js. */
((X) => {
"use strict";
const {plot, show, slider, words} = X;
const NULL = 1.0625;                                // the error of always answering 0
const LOOK = 5000;                                  // prompts: where the text looks
const TIMES = [1, 3, 10, 30, 100, 300];             // thousands of steps

/** The mean over the numbers of prompts that stand nearest to the look, one on each side. */
function errorThere(points) {
  const i = points.findIndex(([n]) => n > LOOK);
  return (points[i - 1][1] + points[i][1]) / 2;
}

X.explorers.longer = {
  title: "longer training",
  small: true,
  controls: [slider("steps", "steps of training", TIMES, 1, time => `${time}\u00a0000`)],
  panels: [{name: "Error on new tasks against the number of practice prompts", height: 280,
    legend: [["error on new tasks", "ICL"], ["answering 0", "thin"]]}],
  compute({steps}) {
    const time = TIMES.findLast(at => at <= steps);
    const points = X.longer.errors[time].map((error, i) => [X.longer.prompts[i], error]);
    const here = errorThere(points);
    return {points, here, rows: [["here", `error with ${LOOK} prompts`, here]],
      summary: `The error with ${LOOK} prompts is now ${show(here, 2)}; always answering 0 has `
        + `${show(NULL, 3)}.`};
  },
  draw([panel], _, {points, here, summary}) {
    const [least, most] = [points[0][0], points.at(-1)[0]];
    plot(panel, {label: `Error against practice prompts. ${words(summary)}`,
      x: {label: "practice prompts", log: true, range: [least, most], ticks: [2e3, 5e3, 1e4, 2e4]},
      y: {label: "error on new tasks", range: [0, 3.5]},
      lines: [{points: [[least, NULL], [most, NULL]], kind: "thin"},
        {points, kind: "ICL", name: "new tasks"}],
      marks: [{at: LOOK, text: `${LOOK} prompts`}],
      dots: [{at: [LOOK, here], kind: "ICL"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
