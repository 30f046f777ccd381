/* Explorer: looking along the directions that matter (chapter 4).

   The loss of M = w_u BBᵀ + w_v B_⊥B_⊥ᵀ (the page's c and g), averaged over drawn contexts, always
   the same ones, with tasks and noise integrated out: iclutils/window/theory/low_rank.py (loss_at),
   k = 2. */
((X) => {
"use strict";
const {choice, even, golden, kept, normal, plot, round, settled, show, slider, steady, uniform,
  whole, words} = X;
const TOKENS = 6000;
const FAR = 1000;                                   // the largest window tried
const NARROW = 200;                                 // of the axis of w_u

/**
 * Drawn contexts: for each its query's relevant part u (2 numbers), then its tokens' u_i and
 * g_i = v_iᵀv. `where` is "apart" (|u| = |v| = 1, independent) or "sphere" (|u|² + |v|² = 1).
 */
const lowrankContexts = kept(12, (where, d, n) => {
  const next = normal(uniform(4040 + d));
  const count = Math.max(20, Math.round(TOKENS / n));
  const point = () => {
    const z = Array.from({length: d}, next);
    const [inner, outer] = [Math.hypot(z[0], z[1]), Math.hypot(...z.slice(2))];
    const [a, b] = where === "apart" ? [inner, outer] : Array(2).fill(Math.hypot(inner, outer));
    return {u: [z[0] / a, z[1] / a], v: z.slice(2).map(x => x / b)};
  };
  return Array.from({length: count}, () => {
    const query = point();
    const tokens = Array.from({length: n}, point);
    const g = tokens.map(({v}) => v.reduce((total, x, i) => total + x * query.v[i], 0));
    return {query, tokens, g, near: tokens.map(({u}) => u[0] * query.u[0] + u[1] * query.u[1])};
  });
});

const LINKS = {
  linear: {nodes: [[1, 0], [0, 1]], of: s => s},
  quadratic: {nodes: 3, of: s => s * s},
  cosine: {nodes: 16, of: s => Math.cos(4 * s)},
};

/** The tasks' vectors whose equal mean is the mean over all of them: LowRankLink.cubature. */
const nodesOf = ({nodes}) => Array.isArray(nodes) ? nodes : Array.from({length: nodes}, (_, i) =>
  [Math.cos(i * Math.PI / nodes), Math.sin(i * Math.PI / nodes)]);

/** f at every task and token of every context, and at the query. */
const valuesOf = kept(12, (link, where, d, n) => {
  const nodes = nodesOf(LINKS[link]);
  const at = u => nodes.map(a => LINKS[link].of(a[0] * u[0] + a[1] * u[1]));
  return lowrankContexts(where, d, n).map(({query, tokens}) =>
    ({target: at(query.u), values: tokens.map(({u}) => at(u))}));
});

/** The loss of (w_u, w_v), with c_v the length of the irrelevant part where the parts are apart. */
function directionsLoss(wu, wv, {link, where, d, n, sigma, cv}) {
  const contexts = lowrankContexts(where, d, n);
  const tasks = valuesOf(link, where, d, n);
  const pull = wv * (where === "apart" ? cv * cv : 1);
  let loss = 0;
  const weights = new Float64Array(n);
  for (let c = 0; c < contexts.length; c++) {
    const {g, near} = contexts[c];
    const {target, values} = tasks[c];
    let top = -Infinity;
    for (let i = 0; i < n; i++) top = Math.max(top, wu * near[i] + pull * g[i]);
    let total = 0;
    for (let i = 0; i < n; i++) total += weights[i] = Math.exp(wu * near[i] + pull * g[i] - top);
    const answer = new Float64Array(target.length);
    let square = 0;
    for (let i = 0; i < n; i++) {
      const gamma = weights[i] / total;
      square += gamma * gamma;
      for (let q = 0; q < answer.length; q++) answer[q] += gamma * values[i][q];
    }
    let signal = 0;
    for (let q = 0; q < answer.length; q++) signal += (answer[q] - target[q]) ** 2;
    loss += signal / answer.length + sigma * sigma * square;
  }
  return loss / contexts.length;
}

/** The best w_u for mass on the others that is held: `of(w_u)` is that mass. */
function bestAlong(of, state, steps = 24) {
  const loss = u => directionsLoss(Math.expm1(u), of(Math.expm1(u)), state);
  const wu = Math.expm1(golden(loss, 0, Math.log1p(FAR), steps));
  return {wu, wv: of(wu), loss: directionsLoss(wu, of(wu), state)};
}

X.explorers.directions = {
  title: "the directions that matter",
  presets: [
    {name: "linear: ignore the rest", settings: {}},
    {name: "later on this page: bowls on the sphere",
      settings: {link: "quadratic", where: "sphere", d: 4}},
    {name: "later: waves on the sphere", settings: {link: "cosine", where: "sphere"}},
  ],
  controls: [slider("wv", "how much it looks at what does not matter",
    even(0, 1.5, 0.05), 1, x => x === 0 ? "not at all" : x === 1 ? "as much as at what does"
      : `${X.plain(x)} times as much`),
  choice("link", "labels", [["linear", "linear"], ["quadratic", "bowls"], ["cosine", "waves"]],
    "linear"),
  choice("where", "points", [["apart", "both parts independent"], ["sphere", "on the unit sphere"]],
    "apart"),
  slider("d", "dimension ~d~, of which 2 matter", even(4, 20, 1), 10),
  slider("n", "context length ~n~", whole(10, 200), 50),
  slider("sigma", "noise ~σ~", round(0.01, 2), 0.01),
  slider("cv", "length of the part that does not matter", round(0.2, 5), 1)],
  panels: [{name: "Error against the mass ~c~ on what matters", height: 280, folded: true, legend: [
    ["what does not matter is ignored, ~g~ = 0", "softmax"], ["your ratio", "target"],
    ["all directions alike, ~g~ = ~c~", "thin"], ["yours before your last move", "ghost"]]},
  {name: "Error against how much the head looks at what does not matter",
    height: 240, legend: [["least error", "exact"]]}],
  compute(state) {
    const share = state.wv;
    const grid = even(0, Math.log1p(NARROW), 0.12).map(u => Math.expm1(u)).filter(w => w > 0.1);
    const along = of => grid.map(w => [w, directionsLoss(w, of(w), state)]);
    const none = bestAlong(() => 0, state);
    const yours = bestAlong(w => share * w, state);
    const all = bestAlong(w => w, state);
    const shares = even(0, 1.5, 0.125).map(s => [s, bestAlong(w => s * w, state, 14).loss]);
    const free = golden(s => bestAlong(w => s * w, state, 14).loss, 0, 1.5, 9);
    const best = bestAlong(w => free * w, state);
    const count = lowrankContexts(state.where, state.d, state.n).length;
    const gain = settled(1 - best.loss / none.loss);
    const verdict = Math.abs(free) < 0.06 || gain < 0.005
      ? "The best head ignores what does not matter."
      : `The best head looks at both: with a ratio of ${show(free, 2)} its error is `
        + `${show(100 * gain, 2)} % lower than with none.`;
    return {none, yours, all, shares, free, best,
      curves: {none: along(() => 0), yours: along(w => share * w), all: along(w => w)}, rows: [
        ["none", "least error with ~g~ = 0", none.loss], ["noneW", "best ~c~ with ~g~ = 0", none.wu],
        ["yours", "least error with your ratio", yours.loss], ["yoursW", "best ~c~ with your ratio", yours.wu],
        ["all", "least error with all alike", all.loss],
        ["cost", "what looking at all costs (factor)", all.loss / none.loss]],
      fine: `Averages over ${count} drawn contexts.`,
      summary: `${verdict} Looking at all directions alike costs a factor of `
        + `${show(all.loss / none.loss, 3)}.`};
  },
  draw([window, shares], {wv}, {none, yours, shares: points, curves, summary}, before) {
    const ghost = before ? [{points: before.result.curves.yours, kind: "ghost"}] : [];
    plot(window, {label: "Error against the mass on what matters: what does not matter ignored, your ratio, all alike.",
      x: {label: "mass on what matters, ~c~", short: "~c~", log: true,
        range: [0.1, NARROW]}, y: {label: "error", log: true, range: [1e-3, 2]},
      lines: [...ghost, {points: curves.all, kind: "thin", name: "all alike"},
        {points: curves.none, kind: "softmax", name: "ignored"},
        {points: curves.yours, kind: "target", name: "your ratio"}],
      dots: [{at: [none.wu, none.loss], kind: "softmax"}, {at: [yours.wu, yours.loss], kind: "target"}]});
    const errors = points.map(([, error]) => error);
    plot(shares, {label: `Error against how much the head looks at what does not matter. ${words(summary)}`,
      x: {label: "how much it looks at what does not matter (1: as much as at what does)",
        short: "looks at what does not matter", range: [0, 1.5]},
      y: {label: "least error", log: true,
        range: steady(shares, Math.min(...errors), Math.max(...errors), 1)},
      lines: [{points, kind: "exact", name: "least error"}],
      marks: [{at: 0}, {at: wv, kind: "target", drag: "wv"}],
      dots: [{at: [wv, yours.loss], kind: "target"}]});
  },
};
Object.assign(X, {directionsLoss, lowrankContexts});
})(globalThis.iclExplorers ??= {explorers: {}});
