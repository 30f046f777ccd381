/* Explorer: a cloud of neighbours on the sphere (chapter 4b).

   How much weight lies where along the query's useful part, for exp(c u_iᵀu + g v_iᵀv) and endless
   examples: the density of u_i on the sphere is (1 − |u_i|²)^{(d−4)/2}, k = 2, and the factor of g,
   averaged over the direction of v_i, is ₀F₁((d − 2)/2; t²/4) at t = g|v||v_i|. */
((X) => {
"use strict";
const {even, plot, settled, show, slider, sum, words} = X;
const [D, Z] = [10, 0.2];                           // of the page's code
const PLACES = even(-0.995, 0.995, 0.01);
const ACROSS = even(0.0125, 0.9875, 0.025);         // of the other useful coordinate

/** ₀F₁(b; y), its series; all terms are positive. */
function confluent(b, y) {
  let [term, total] = [1, 1];
  for (let m = 0; term > 1e-12 * total; m++) total += term *= y / ((b + m) * (m + 1));
  return total;
}

/** The cloud's density at PLACES, its centre and its variance. */
function cloud(c, g) {
  const weights = PLACES.map(z => sum(ACROSS.map(y => {
    const rest = Math.max(0, 1 - z * z - y * y);    // |v_i|²
    const factor = confluent((D - 2) / 2, g * g * (1 - Z * Z) * rest / 4);
    return rest ** ((D - 4) / 2) * Math.exp(c * Z * z) * factor;
  })));
  const total = sum(weights);
  const mean = of => settled(sum(weights.map((w, i) => w * of(PLACES[i]))) / total);
  const centre = mean(z => z);
  return {centre, variance: mean(z => (z - centre) ** 2),
    points: weights.map((w, i) => [PLACES[i], 100 * w / total])};
}

X.explorers.cloud = {
  title: "c moves the cloud, g makes it narrow",
  small: true,
  controls: [slider("c", "mass ~c~ on the useful directions", even(0, 30, 0.5), 13),
    slider("g", "mass ~g~ on the useless directions", even(0, 16, 0.5), 6)],
  panels: [{name: "Where the weight lies, in ten dimensions", height: 240, legend: [
    ["all examples", "thin"], ["with ~c~ = 10 alone", "softmax"], ["yours", "target"]]}],
  compute({c, g}) {
    const yours = cloud(c, g);
    return {yours, rows: [["centre", "centre of the cloud", yours.centre],
      ["variance", "its variance", yours.variance]],
      summary: `The cloud lies at ${show(yours.centre, 2)}, the query at ${Z}; the variance of the `
        + `cloud is ${show(yours.variance, 3)}.`};
  },
  draw([panel], state, {yours, summary}) {
    plot(panel, {label: `Weight against a useful coordinate of the examples. ${words(summary)}`,
      x: {label: "useful coordinate of an example", range: [-0.8, 1]},
      y: {label: "weight, % per 0.01", range: [0, 2]},
      lines: [{points: cloud(0, 0).points, kind: "thin", name: "all examples"},
        {points: cloud(D, 0).points, kind: "softmax", name: "~c~ = 10 alone"},
        {points: yours.points, kind: "target", name: "yours"}],
      marks: [{at: Z}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
