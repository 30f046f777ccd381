/* Explorer: looking along the directions that matter (chapter 4a).

   The loss of M = c BBᵀ + g B_⊥B_⊥ᵀ on linear tasks, averaged over drawn contexts, always the same
   ones, with tasks and noise integrated out: ½|δ|² + σ² Σγ_i², where the weights γ_i average the
   u_i to u + δ (iclutils/window/theory/low_rank.py, loss_at, k = 2). */
((X) => {
"use strict";
const {even, golden, kept, normal, plot, round, show, slider, steady, uniform, whole, words} = X;
const TOKENS = 20000;
const FAR = 1000;                                   // the largest mass tried

/**
 * Drawn contexts: for each its query's useful part u, of length one, then of its tokens u_i, and
 * u_iᵀu and v_iᵀv for parts v of length one.
 */
const lowrankContexts = kept(12, (d, n) => {
  const next = normal(uniform(4040 + d));
  const count = Math.max(20, Math.round(TOKENS / n));
  const point = () => {
    const z = Array.from({length: d}, next);
    const [inner, outer] = [Math.hypot(z[0], z[1]), Math.hypot(...z.slice(2))];
    return {u: [z[0] / inner, z[1] / inner], v: z.slice(2).map(x => x / outer)};
  };
  return Array.from({length: count}, () => {
    const query = point();
    const tokens = Array.from({length: n}, point);
    const far = tokens.map(({v}) => v.reduce((total, x, i) => total + x * query.v[i], 0));
    const near = tokens.map(({u}) => u[0] * query.u[0] + u[1] * query.u[1]);
    return {query, tokens, far, near};
  });
});

/** The loss of (c, g), with cv the length of the useless part. */
function directionsLoss(c, g, {d, n, sigma, cv}) {
  const contexts = lowrankContexts(d, n);
  const pull = g * cv * cv;
  const weights = new Float64Array(n);
  let loss = 0;
  for (const {query, tokens, far, near} of contexts) {
    let top = -Infinity;
    for (let i = 0; i < n; i++) top = Math.max(top, c * near[i] + pull * far[i]);
    let [total, square, first, second] = [0, 0, 0, 0];
    for (let i = 0; i < n; i++) total += weights[i] = Math.exp(c * near[i] + pull * far[i] - top);
    for (let i = 0; i < n; i++) {
      const gamma = weights[i] / total;
      square += gamma * gamma;
      first += gamma * tokens[i].u[0];
      second += gamma * tokens[i].u[1];
    }
    loss += ((first - query.u[0]) ** 2 + (second - query.u[1]) ** 2) / 2 + sigma ** 2 * square;
  }
  return loss / contexts.length;
}

/** The least loss at a ratio g/c, and its c. */
function bestAt(ratio, state, steps = 24) {
  const loss = c => directionsLoss(c, ratio * c, state);
  const c = Math.expm1(golden(u => loss(Math.expm1(u)), 0, Math.log1p(FAR), steps));
  return {c, loss: loss(c)};
}

/** The least loss with g = 0, and the curve of the least losses over the ratio. */
const curveOf = kept(12, (d, n, sigma, cv) => {
  const state = {d, n, sigma, cv};
  const shares = even(0, 1.5, 0.125).map(share => [share, bestAt(share, state, 12).loss]);
  return {none: bestAt(0, state), shares};
});

X.explorers.directions = {
  title: "the directions that matter",
  controls: [slider("wv", "how much a useless coordinate counts",
    even(0, 1.5, 0.05), 1, x => x === 0 ? "nothing" : x === 1 ? "as much as a useful one"
      : `${X.plain(x)} times as much`),
  slider("d", "dimension ~d~, of which 2 matter", even(4, 20, 1), 10),
  slider("n", "context length ~n~", whole(10, 200), 50),
  slider("sigma", "noise ~σ~", round(0.01, 2), 0.1),
  slider("cv", "length of the useless part", round(0.2, 5), 1)],
  panels: [{name: "Mean squared error against how much a useless coordinate counts",
    height: 240, legend: [["error with the best window", "exact"]]}],
  compute(state) {
    const {none, shares} = curveOf(state.d, state.n, state.sigma, state.cv);
    const yours = bestAt(state.wv, state);
    return {yours, shares, rows: [
      ["none", "least error with ~g~ = 0", none.loss], ["noneC", "best ~c~ with ~g~ = 0", none.c],
      ["yours", "least error with your ratio ~g~/~c~", yours.loss],
      ["yoursC", "best ~c~ with your ratio", yours.c]],
      fine: `Averages over ${lowrankContexts(state.d, state.n).length} drawn contexts.`,
      summary: `The mean squared error is ${show(yours.loss, 2)}; a head that ignores the `
        + `useless coordinates has ${show(none.loss, 2)}.`};
  },
  draw([panel], {wv}, {yours, shares: points, summary}) {
    const errors = points.map(([, error]) => error);
    plot(panel, {label: `Error against how much a useless coordinate counts. ${words(summary)}`,
      x: {label: "how much a useless coordinate counts (a useful one: 1)",
        short: "how much a useless one counts", range: [0, 1.5]},
      y: {label: "mean squared error", log: true,
        range: steady(panel, Math.min(...errors), Math.max(...errors), 1)},
      lines: [{points, kind: "exact", name: "error"}],
      marks: [{at: 0}, {at: wv, kind: "target", drag: "wv"}],
      dots: [{at: [wv, yours.loss], kind: "target"}]});
  },
};
Object.assign(X, {lowrankContexts});
})(globalThis.iclExplorers ??= {explorers: {}});
