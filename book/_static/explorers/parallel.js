/* Explorer: why the peak is high (chapter 5). Two equations for two weights, aᵢ·w = yᵢ, are two
   lines; the fit is where they meet. The label of the second has an error, which shifts its line.
   Held against 2 × 2 linear algebra in tests/explorers/package.py. */
((X) => {
"use strict";
const {draw, even, plain, plot, round, show, slider, words} = X;
const TRUE = [1, 0.5];                              // the weights that made the labels
const FLAT = 20 * Math.PI / 180;                    // the first line's slope
const REACH = 3;                                    // of the picture, up and down
const EVEN = even(-12, 12, 2);
const ANGLES = round(1, 90);

/** The equations [a, y]: unit vectors a, at right angles to the lines; y errs in the second. */
function equations({angle, noise}) {
  return [[FLAT, 0], [FLAT - angle * Math.PI / 180, noise]].map(([slope, error]) => {
    const a = [-Math.sin(slope), Math.cos(slope)];
    return {a, y: a[0] * TRUE[0] + a[1] * TRUE[1] + error};
  });
}

/** The weights that make Σ (aᵢ·w − yᵢ)² + λ|w|² least: for λ = 0 where the lines meet. */
function fitted(pair, lambda) {
  const entry = (i, j) => pair.reduce((sum, {a}) => sum + a[i] * a[j], i === j ? lambda : 0);
  const [p, q, r] = [entry(0, 0), entry(0, 1), entry(1, 1)];
  const [s, t] = [0, 1].map(i => pair.reduce((sum, {a, y}) => sum + a[i] * y, 0));
  const det = p * r - q * q;
  return [(r * s - q * t) / det, (p * t - q * s) / det];
}

/** Where a line a·w = y crosses the picture: two points far outside of it. */
const across = ({a: [u, v], y}) => [-40, 40].map(t => [y * u - t * v, y * v + t * u]);

/** The angle that lays the second line through a place of the picture; its error stays. */
function through([x, y], noise) {
  const [dx, dy] = [x - TRUE[0], y - TRUE[1]];
  const lean = Math.asin(Math.max(-1, Math.min(1, noise / (Math.hypot(dx, dy) || 1))));
  const turned = (FLAT - Math.atan2(dy, dx) + lean) * 180 / Math.PI;
  const half = (turned % 180 + 180) % 180;          // a line has no direction
  return half > 135 ? 1 : half;
}

X.explorers.parallel = {
  title: "two equations",
  presets: [
    {name: "well apart", settings: {}},
    {name: "nearly parallel: the fit runs away", settings: {angle: 3}},
    {name: "without error it stays", settings: {angle: 3, noise: 0}},
    {name: "a ridge holds it", settings: {angle: 3, lambda: 0.1}},
  ],
  controls: [slider("angle", "angle between the lines", ANGLES, 60, v => `${plain(v)}°`),
    slider("noise", "error of the second label", even(-0.5, 0.5, 0.05), 0.2),
    slider("lambda", "ridge ~λ~", [0, ...round(1e-4, 1)], 0, v => v === 0 ? "0 (none)" : plain(v))],
  panels: [
    {name: "Each equation is a line; turn the orange one", height: 250, legend: [
      ["first equation", "exact"], ["second equation", "target"],
      ["without its error", "thin"], ["the fit", "softmax", true],
      ["the truth", "recorded", true]]},
    {name: "Size of the weights", height: 190, legend: [["the fit’s", "softmax"],
      ["the truth’s", "thin"], ["before your last move", "ghost"]]},
  ],
  compute(state) {
    const pair = equations(state);
    const w = fitted(pair, state.lambda);
    const size = Math.hypot(...w);
    const sizes = ANGLES.map(angle =>
      [angle, Math.hypot(...fitted(equations({...state, angle}), state.lambda))]);
    return {pair, w, size, sizes, rows: [
      ["w1", "first weight of the fit", w[0]], ["w2", "second weight", w[1]],
      ["size", "size of the fit’s weights", size]],
      summary: `At ${plain(state.angle)}° the fit’s weights have the size ${show(size, 2)}; `
        + `those that made the labels, the truth, have ${show(Math.hypot(...TRUE), 2)}.`};
  },
  draw([plane, size], state, {pair, w, sizes, summary}, before) {
    const height = Number(plane.dataset.height) - 54;
    const wide = REACH * (X.widthOf(plane) - 64) / height;   // one unit is as long both ways
    const clean = equations({...state, noise: 0})[1];
    const seen = Math.abs(w[0]) < wide && Math.abs(w[1]) < REACH;
    plot(plane, {label: `Two lines and where they meet. ${words(summary)}`,
      x: {label: "first weight", range: [-wide, wide], ticks: EVEN.filter(v => Math.abs(v) < wide)},
      y: {label: "second weight", range: [-REACH, REACH], ticks: [-2, 0, 2]},
      lines: [{points: across(clean), kind: "thin"}, {points: across(pair[0]), kind: "exact"},
        {points: across(pair[1]), kind: "target"}],
      dots: [{at: w, kind: "softmax"}, {at: TRUE, kind: "recorded"}]});
    const {box, placeX, placeY} = plane.view;
    if (!seen) {                                    // say where it went
      const far = Math.max(Math.abs(w[0]) / wide, Math.abs(w[1]) / REACH) * 1.08;
      const [x, y] = [placeX(w[0] / far), placeY(w[1] / far)];
      const turn = Math.atan2(-w[1], w[0]) * 180 / Math.PI;
      const anchor = x < (box.left + box.right) / 2 ? "start" : "end";
      const svg = plane.querySelector("svg");
      svg.append(draw("path", {d: "M-6 -6L6 0L-6 6z", class: "x-dot x-softmax",
        transform: `translate(${x} ${y}) rotate(${turn})`}),
      draw("text", {x, y: y + (y < box.bottom - 40 ? 22 : -14), "text-anchor": anchor, class: "x-why"},
        `the fit, ${show(Math.hypot(...w), 2)} away`));
    }
    const ghost = before ? [{points: before.result.sizes, kind: "ghost"}] : [];
    const low = Math.hypot(...TRUE);
    plot(size, {label: `Size of the weights against the angle. ${words(summary)}`,
      x: {label: "angle between the lines (degrees)", short: "angle", log: true, range: [1, 90],
        ticks: [1, 2, 5, 10, 20, 50, 90]},
      y: {label: "size of the weights", log: true, range: [0.2, 50]},
      lines: [...ghost, {points: [[1, low], [90, low]], kind: "thin"},
        {points: sizes, kind: "softmax", name: "size"}],
      marks: [{at: state.angle, kind: "target", drag: "angle"}],
      dots: [{at: [state.angle, Math.hypot(...w)], kind: "softmax"}]});
  },
  begin({root, state}) {
    const plane = root.querySelector(".x-plot");
    const turn = event => {
      const {left, top} = plane.getBoundingClientRect();
      const {placeX, placeY} = plane.view;
      const at = [placeX.back(event.clientX - left), placeY.back(event.clientY - top)];
      const detail = {angle: through(at, state.noise)};
      plane.dispatchEvent(new CustomEvent("pulled", {detail}));
    };
    plane.classList.add("x-turned");
    plane.addEventListener("pointerdown", event => {
      event.preventDefault();
      plane.setPointerCapture(event.pointerId);
      plane.dispatchEvent(new CustomEvent("grasped"));
      turn(event);
    });
    plane.addEventListener("pointermove", event => {
      if (plane.hasPointerCapture(event.pointerId)) turn(event);
    });
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
