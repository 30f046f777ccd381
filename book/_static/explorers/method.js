/* The opening picture of chapter 8b: what a method and a list answer while the task moves.

   Tasks are lines through 0, and the list has two, of slopes 1 and −1: ridge and by_heart of
   iclutils/transformer/theory/lists.py in one dimension. */
((X) => {
"use strict";
const {even, normal, plot, settled, show, slider, sum, uniform, words} = X;
const COUNT = 10;

/** The places of the examples, and the noise on them; always the same. */
const EXAMPLES = (() => {
  const place = uniform(3);
  const fault = normal(uniform(8));
  return Array.from({length: COUNT}, () => ({at: 2 * place() - 1, fault: fault()}));
})();

X.explorers.method = {
  title: "a method and a list",
  small: true,
  controls: [slider("slope", "slope of the hidden task", even(-1.5, 1.5, 0.05), 1),
    slider("sigma", "standard deviation of the noise", even(0.1, 3, 0.1), 0.3)],
  panels: [{name: "One prompt, and two answers to it", height: 260, legend: [
    ["the method", "ICL"], ["the list", "IDG"], ["examples", "other", true]]}],
  compute({slope, sigma}) {
    const readings = EXAMPLES.map(({at, fault}) => [at, slope * at + sigma * fault]);
    const squares = sum(readings.map(([at]) => at * at));
    const along = sum(readings.map(([at, y]) => at * y));
    const method = settled(along / (squares + sigma ** 2));
    const list = settled(Math.tanh(along / sigma ** 2));
    return {readings, method, list, rows: [
      ["method", "the method’s answer at 1", method], ["list", "the list’s answer at 1", list]],
      summary: `The hidden task has the slope ${show(settled(slope), 2)}. At the query the method `
        + `answers ${show(method, 2)}, and the list ${show(list, 2)}.`};
  },
  draw([panel], _, {readings, method, list, summary}) {
    const line = slope => even(-1, 1, 0.1).map(at => [at, slope * at]);
    plot(panel, {label: `Examples and both answers. ${words(summary)}`,
      x: {label: "place", range: [-1.15, 1.15], ticks: [-1, 0, 1]},
      y: {label: "label", range: [-2, 2]},
      lines: [{points: line(method), kind: "ICL", name: "method"},
        {points: line(list), kind: "IDG", name: "list"}],
      marks: [{at: 1, text: "query"}],
      dots: [...readings.map(at => ({at, kind: "other"})), {at: [1, method], kind: "ICL"},
        {at: [1, list], kind: "IDG"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
