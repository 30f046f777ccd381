/* Explorer: thirty thermometers around a lake, and a window (chapter 1).

   The softmax head of iclutils/window/attention.py with M = w·I on the unit circle. */
((X) => {
"use strict";
const {even, normal, plot, round, settled, show, slider, sum, uniform, words} = X;
const COUNT = 30;
const PEAK = 60;                                    // degrees, where the water is warmest
const WIDEST = 0;                                   // a window of 0 is the whole lake
const radians = degrees => degrees * Math.PI / 180;
const truth = (height, at) => height * Math.cos(radians(at - PEAK));

/** The places of the thermometers in degrees, and their faults at noise 1; always the same. */
const THERMOMETERS = (() => {
  const place = uniform(7);
  const fault = normal(uniform(11));
  return Array.from({length: COUNT}, () => ({at: 360 * place() - 180, fault: fault()}));
})();

/** The weights of the thermometers for a question at a place: the nearer, the more. */
function weightsAt(at, w) {
  const near = THERMOMETERS.map(one => Math.cos(radians(one.at - at)));
  const top = Math.max(...near);
  const raw = near.map(value => Math.exp(w * (value - top)));
  const total = sum(raw);
  return raw.map(value => value / total);
}

X.explorers.hill = {
  title: "thermometers around a lake",
  controls: [
    slider("w", "window (narrower →)", [WIDEST, ...round(0.1, 3000)], 1,
      w => w === WIDEST ? "the whole lake" : `~w~ = ${X.plain(w)}`),
    slider("star", "place of the star (degrees)", even(-180, 180, 2), 0),
    slider("height", "height of the hill", even(0, 8, 0.5), 6),
    slider("sigma", "errors of the thermometers", even(0, 2, 0.1), 0.5),
  ],
  panels: [
    {name: "Temperature around the lake", height: 260, legend: [["the truth", "exact"],
      ["thermometers", "other", true], ["answer of the window", "softmax"]]},
    {name: "How much each thermometer counts at the star", height: 110, legend: []},
  ],
  compute({w, star, height, sigma}) {
    const readings = THERMOMETERS.map(({at, fault}) => [at, truth(height, at) + sigma * fault]);
    const answerAt = at => sum(weightsAt(at, w).map((weight, i) => weight * readings[i][1]));
    const curve = even(-180, 180, 2).map(at => [at, answerAt(at)]);
    const square = sum(curve.map(([at, y]) => (y - truth(height, at)) ** 2)) / curve.length;
    const answer = answerAt(star);
    const there = settled(truth(height, star));
    return {readings, curve, answer, there, weights: weightsAt(star, w), rows: [
      ["answer", "answer at the star", answer], ["truth", "the truth there", there],
      ["off", "error around the lake (root mean square)", Math.sqrt(square)]],
    summary: `At the star the answer is ${show(answer, 2)}, the truth ${show(there, 2)}. `
      + `Around the lake the answer is off by ${show(Math.sqrt(square), 2)} on average.`};
  },
  draw([lake, strip], {star, height}, {readings, curve, answer, there, weights, summary}) {
    const x = {label: "place on the shore (degrees)", short: "place", range: [-180, 180],
      ticks: [-180, -90, 0, 90, 180]};
    plot(lake, {label: `Truth, readings and answer around the lake. ${words(summary)}`, x,
      y: {label: "temperature", range: [-10, 10]},
      lines: [{points: even(-180, 180, 2).map(at => [at, truth(height, at)]), kind: "exact",
        name: "truth"}, {points: curve, kind: "softmax", name: "answer"}],
      marks: [{at: star, text: "★", drag: "star"}],
      dots: [...readings.map(at => ({at, kind: "other"})), {at: [star, there], kind: "exact"},
        {at: [star, answer], kind: "softmax"}]});
    plot(strip, {label: "The weight of each thermometer for the question at the star.", x,
      y: {hidden: true, indented: true, range: [0, 1.05 * Math.max(...weights)]},
      lines: [{points: readings.map(([at], i) => [at, weights[i]]), kind: "softmax", sticks: true}],
      marks: [{at: star}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
