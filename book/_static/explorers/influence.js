/* Explorer: a trained transformer, and how much each example counts for its answer (chapter 8).

   The first of the recorded networks that were trained on three steepnesses at once; its weights
   are in influence_network.js, its forward pass in influence_transformer.js. */
((X) => {
"use strict";
const {choice, even, kept, normal, plot, settled, show, slider, sum, uniform, words} = X;
const COUNT = 24;
const KINK = 40;                                    // degrees: there and opposite the task bends
const SLOPES = [0.9, -0.5, -0.1];                   // of its two sides and its offset, at L = 1
const radians = degrees => degrees * Math.PI / 180;
const wrapped = degrees => (degrees % 360 + 540) % 360 - 180;

function truth(L, at) {
  const along = Math.cos(radians(at - KINK + 90));
  const [right, left, offset] = SLOPES;
  return L * (right * Math.max(along, 0) + left * Math.max(-along, 0) + offset);
}

/** The places of the examples in degrees, in their order, and the noise on them; always the same. */
const EXAMPLES = (() => {
  const place = uniform(5);
  const fault = normal(uniform(12));
  return Array.from({length: COUNT}, () => ({at: 360 * place() - 180, fault: fault()}))
    .sort((a, b) => a.at - b.at);
})();

/** The place in the list of the example nearest to a place on the circle. */
function nearestTo(at) {
  const far = EXAMPLES.map(one => Math.abs(wrapped(one.at - at)));
  return far.indexOf(Math.min(...far));
}

const net = kept(1, () => X.unpacked(X.network));

/** The weights of the softmax head that is best for the same tasks. */
function headAt(at) {
  const raw = EXAMPLES.map(one =>
    Math.exp(X.network.w * (Math.cos(radians(one.at - at)) - 1)));
  const total = sum(raw);
  return raw.map(value => value / total);
}

X.explorers.influence = {
  title: "a whole transformer",
  controls: [
    slider("moved", "move the label of the ringed example by", even(-10, 10, 0.5), 0),
    slider("which", "ringed example, counted from the left", even(1, COUNT, 1), 11),
    choice("steep", "task", [["1", "flat"], ["4", "middling"], ["16", "steep"]], "4"),
    slider("star", "place of the query (degrees)", even(-180, 180, 2), 20),
  ],
  panels: [
    {name: "One prompt, and the answers to it", height: 230, legend: [
      ["the network’s answer", "target"], ["the softmax head’s answer", "softmax"],
      ["the hidden task", "exact"], ["examples", "other", true],
      ["the one that you move", "recorded", true]]},
    {name: "How much each example counts", height: 220, legend: [
      ["in the network", "target"], ["in the softmax head", "softmax"]]},
  ],
  compute({moved, which, steep, star}) {
    const L = Number(steep);
    const {unit} = X.network;
    const labels = EXAMPLES.map(({at, fault}, i) =>
      truth(L, at) + fault + (i === which - 1 ? moved : 0));
    const examples = EXAMPLES.map(({at}, i) => [at, labels[i] / unit]);
    const memory = X.memoryOf(net(), examples);
    const answerAt = at => unit * X.answerOf(net(), memory, at);
    const headSays = at => sum(headAt(at).map((weight, i) => weight * labels[i]));
    const places = even(-180, 180, 5);
    const J = X.influenceOf(net(), examples, star);
    const gamma = headAt(star);
    const own = settled(J[which - 1]);
    const answer = answerAt(star);
    return {labels, J, gamma, answer, readings: examples,
      curve: places.map(at => [at, answerAt(at)]), head: places.map(at => [at, headSays(at)]),
      rows: [["answer", "the network’s answer", settled(answer)],
        ["truth", "the hidden task there", settled(truth(L, star))],
        ["said", "the softmax head’s answer", settled(headSays(star))],
        ["own", "influence of the ringed example", own],
        ["total", "sum of all influences", sum(J)]],
      summary: `At the query the network says ${show(answer, 2)}, the head `
        + `${show(settled(headSays(star)), 2)}, and the hidden task ${show(settled(truth(L, star)), 2)}. `
        + `If the ringed label rises a little, the network moves ${show(own, 2)} times as much.`};
  },
  draw([prompt, strip], {which, steep, star}, {labels, J, gamma, answer, curve, head, summary}) {
    const L = Number(steep);
    const x = {label: "place on the circle (degrees)", short: "place", range: [-180, 180],
      ticks: [-180, -90, 0, 90, 180]};
    const most = Math.max(4, 1.4 * L);
    const marked = EXAMPLES[which - 1].at;
    const bends = height => [KINK, KINK - 180].map(at =>
      ({points: height.map(y => [at, y]), kind: "thin"}));
    const marks = [{at: marked, kind: "other", drag: at => ({which: nearestTo(at) + 1})},
      {at: star, text: "query", drag: "star"}];
    plot(prompt, {label: `Task, examples and answers around the circle. ${words(summary)}`, x,
      y: {label: "label", range: [-most - 1, most + 1]},
      lines: [...bends([-most - 1, most + 1]), {points: even(-180, 180, 5).map(at => [at, truth(L, at)]), kind: "exact",
        name: "hidden task"}, {points: head, kind: "softmax", name: "softmax head"},
      {points: curve, kind: "target", name: "network"}], marks,
      dots: [...EXAMPLES.map(({at}, i) => ({at: [at, labels[i]], kind: "other"})),
        {at: [marked, labels[which - 1]], kind: "recorded"}, {at: [star, answer], kind: "target"}]});
    const highest = Math.max(...J, ...gamma);
    const bars = list => EXAMPLES.map(({at}, i) => [at, list[i]]);
    const heights = [1.1 * Math.min(-0.15 * highest, ...J), 1.1 * highest];
    plot(strip, {label: "The influence of each example on the answer at the query.", x,
      y: {label: "influence", range: heights},
      lines: [...bends(heights), {points: [[-180, 0], [180, 0]], kind: "thin"},
        {points: bars(J), kind: "target", name: "network", sticks: true, aside: -1.5},
        {points: bars(gamma), kind: "softmax", name: "softmax head", sticks: true, aside: 1.5}],
      marks});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
