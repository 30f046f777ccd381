/* Explorer of chapter 5d: a list of the tasks 1 and −1. With one example, at the input 1, and the
   noise taken for v, the average over it is tanh(label / v). */
((X) => {
"use strict";
const {even, plot, round, show, slider, sum, words} = X;
const LABELS = even(-2, 2, 0.02);

X.explorers.soften = {
  title: "a list turns into a method",
  small: true,
  controls: [slider("v", "assumed variance of the noise", round(0.01, 20), 2)],
  panels: [{name: "What a list of 1 and −1 answers to one example", height: 280, legend: [
    ["average", "IDG"], ["multiplied", "ICL"], ["right", "thin"]]}],
  compute({v}) {
    const answers = LABELS.map(y => Math.tanh(y / v));
    const times = sum(answers.map((a, i) => a * LABELS[i])) / sum(answers.map(a => a * a));
    const answer = Math.tanh(0.8 / v);
    return {answers, times, rows: [["answer", "answer to the label 0.8", answer],
      ["times", "best number", times], ["multiplied", "answer, multiplied", times * answer]],
      summary: `To the label 0.8 the average answers ${show(answer, 2)}, and ${
        show(times * answer, 2)} if it is multiplied by ${show(times, 2)}.`};
  },
  draw([panel], _, {answers, times, summary}) {
    const curve = factor => LABELS.map((y, i) => [y, factor * answers[i]]);
    plot(panel, {label: `The answer against the label of the example. ${words(summary)}`,
      x: {label: "label of the example", range: [-2, 2]}, y: {label: "answer", range: [-2.2, 2.2]},
      lines: [{points: [[-2, -2], [2, 2]], kind: "thin"},
        {points: curve(1), kind: "IDG", name: "average"},
        {points: curve(times), kind: "ICL", name: "multiplied"}],
      dots: [-1, 1].map(at => ({at: [at, at], kind: "other"}))});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
