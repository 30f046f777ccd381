/* The loss of a softmax window, M = wI on the sphere: iclutils/window/theory/population_loss.py.

   Where the best window holds ten tokens or more the closed form for long contexts is used (limit);
   below that, contexts are drawn, always the same ones (sampled).

   The closed form is an expansion in 1/n. Its E Σγ² = E e^{2wt} / (n (E e^{wt})²) grows without bound
   as the window narrows, though Σγ² is at most 1: where it says that two tokens are left it is up to
   18, 57 and 140 % too large (d = 3, 5, 10). Its curves end there. */
((X) => {
"use strict";
const {golden, kept, lgamma, normal, sum, uniform} = X;
const W_MAX = 1e5;                                  // the grid's end; every best window lies below
const ENOUGH = 10;                                  // tokens in a window for the closed form
const FEWEST = 2;                                   // below it the closed form is no number at all
const TOKENS = 6000;                                // drawn for one (d, n), in at least four contexts
const LAST = 1900;                                  // the last degree, 6·sqrt(W_MAX)
const LAST_DRAWN = 64;
const COARSE = 4;                                   // steps of the grid: a factor of two in w
const stretch = w => Math.asinh(w / 0.1);           // the coordinate in which the grids are even
const unstretch = u => 0.1 * Math.sinh(u);
const gridOf = points =>
  Array.from({length: points}, (_, i) => unstretch(i / (points - 1) * stretch(W_MAX)));
const GRID = gridOf(241);
const GRID_DRAWN = gridOf(81);

/** log E exp(w t), t = xᵀy on the sphere in R^d: the series of 0F1(; d/2; w²/4). */
function logPartition(w, d) {
  let term = 1;
  let total = 1;
  let log = 0;
  for (let m = 0; term > 1e-17 * total; m++) {
    term *= (w * w / 4) / ((m + 1) * (d / 2 + m));
    total += term;
    if (total > 1e250) {
      log += Math.log(total);
      term /= total;
      total = 1;
    }
  }
  return log + Math.log(total);
}

/** I_{k+d/2-1}(w) / I_{d/2-1}(w), k = 0 … last: ratios of neighbours, downwards. */
function tilted(w, d, last) {
  const out = new Float64Array(last + 1);
  out[0] = 1;
  if (w === 0) return out;
  const ratio = new Float64Array(last + 1);         // ratio[k] = I_{k+d/2} / I_{k+d/2-1}
  const start = last + 30 + Math.ceil(6 * Math.sqrt(w));  // from there a wrong start has died out
  const top = start + d / 2 + 1;
  let r = w / (top + Math.sqrt(top * top + w * w));
  for (let k = start; k >= 0; k--) {
    r = 1 / (2 * (k + d / 2) / w + r);
    if (k <= last) ratio[k] = r;
  }
  for (let k = 0; k < last; k++) out[k + 1] = out[k] * ratio[k];
  return out;
}

/** The log of the number of harmonics of degree k > 0 on the sphere in R^d. */
const logHarmonics = (k, d) =>
  Math.log((2 * k + d - 2) / k) + lgamma(k + d - 2 || 1) - lgamma(k) - lgamma(d - 1);

const reluTerms = kept(8, (d, last) => {
  const terms = [[1, 1 / (6 * d)]];
  for (let k = 2; k <= last; k += 2) {
    const size = lgamma(d / 2) - 0.5 * Math.log(Math.PI) + (1 - k) * Math.LN2 + lgamma(k - 1)
      - lgamma(k / 2) - lgamma((k + d + 1) / 2);
    terms.push([k, Math.exp(logHarmonics(k, d) + 2 * size) / 6]);
  }
  const mean = Math.exp(lgamma(d / 2) - lgamma((d + 1) / 2)) / Math.sqrt(Math.PI);  // E|t|
  const rest = 1 / (3 * d) - mean * mean / 6 - sum(terms.map(term => term[1]));
  return {terms, rest: Math.max(rest, 0), mean: mean * mean / 6 + 1 / 3};
});

/** Γ(k + d/2)⁻¹ Γ(d/2) (L/2)^k 0F1(; k + d/2; −L²/4): cos(L wᵀx) in degree k. */
function waveSize(k, d, L) {
  let term = 1;
  let total = 1;
  for (let m = 0; Math.abs(term) > 1e-18 * Math.abs(total) || m < L; m++) {
    term *= -(L * L / 4) / ((m + 1) * (k + d / 2 + m));
    total += term;
    if (m > 200) break;
  }
  return Math.exp(lgamma(d / 2) - lgamma(k + d / 2) + k * Math.log(L / 2)) * total;
}

/**
 * The covariance E f(x)f(y) = Σ c_k P_k(xᵀy) of a class: `terms` [degree, c_k] for k > 0, what the
 * list lacks (`rest`), and c_0 (`mean`), which no softmax window has to pay for.
 */
function taskClass(name, d, L, last = LAST) {
  if (name === "affine") return {terms: [[1, L * L / (3 * d)]], rest: 0, mean: L * L / 3};
  if (name === "relu") {
    const {terms, rest, mean} = reluTerms(d, last);
    return {terms: terms.map(([k, c]) => [k, L * L * c]), rest: L * L * rest, mean: L * L * mean};
  }
  const terms = [];
  for (let k = 2; k <= Math.min(last, 2 * Math.ceil(L) + 40); k += 2) {
    terms.push([k, Math.exp(logHarmonics(k, d)) * waveSize(k, d, L) ** 2]);
  }
  return {terms: terms.filter(([, c]) => c > 1e-300), rest: 0, mean: waveSize(0, d, L) ** 2};
}

/* ---- the closed form for long contexts */

/** What no class, n or noise enters: r_k(w), r_k(2w) and E e^{2wt} / (E e^{wt})². */
function ratiosAt(w, d, last) {
  const spread = Math.exp(logPartition(2 * w, d) - 2 * logPartition(w, d));
  return {r: tilted(w, d, last), sharper: tilted(2 * w, d, last), spread};
}
const ratiosOnGrid = kept(6, (d, last) => GRID.map(w => ratiosAt(w, d, last)));

/** The parts of the loss at one window: bias², scatter of the tasks' values, and E Σγ². */
function closedParts({r, sharper, spread}, n, {terms, rest}) {
  const each = spread / n;
  let bias = rest;
  let scatter = rest * each;
  for (const [k, c] of terms) {
    bias += c * (1 - r[k]) ** 2;
    scatter += c * each * (1 + 3 * r[k] * r[k] - 2 * r[k] + 2 * (1 - 2 * r[k]) * sharper[k]);
  }
  return {bias, scatter, spread: each};
}

/* ---- drawn contexts */

/** t = cos(angle to the query) of n tokens drawn uniformly on the sphere in R^d; always the same. */
function tokens(n, d) {
  const next = normal(uniform(20240 + d));
  return Array.from({length: n}, () => {
    const x = Array.from({length: d}, next);
    return x[0] / Math.hypot(...x);
  });
}

/** The drawn contexts for (d, n), one after the other: their tokens' t. */
const drawn = kept(16, (d, n) => {
  const contexts = Math.max(4, Math.round(TOKENS / n));
  return {contexts, t: Float64Array.from(tokens(contexts * n, d))};
});

/** P_k(t) of every drawn token, for the given degrees: one row a token. */
function polynomials({t}, d, degrees) {
  const last = degrees[degrees.length - 1];
  const width = degrees.length;
  const out = new Float64Array(t.length * width);
  const column = new Int32Array(last + 1).fill(-1);
  degrees.forEach((k, j) => { column[k] = j; });
  for (let i = 0; i < t.length; i++) {
    let before = 0;
    let now = 1;
    for (let k = 0; k <= last; k++) {
      if (column[k] >= 0) out[i * width + column[k]] = now;
      const after = k ? ((2 * k + d - 2) * t[i] * now - k * before) / (k + d - 2) : t[i];
      before = now;
      now = after;
    }
  }
  return out;
}

const rowsOf = kept(16, (d, n, ...degrees) => polynomials(drawn(d, n), d, degrees));

/** Averages over the drawn contexts at the window w: what multiplies each c_k, and E Σγ². */
function drawnMoments(w, d, n, degrees) {
  const {contexts, t} = drawn(d, n);
  const rows = rowsOf(d, n, ...degrees);
  const width = degrees.length;
  const parts = new Float64Array(width);
  const gamma = new Float64Array(n);
  const mean = new Float64Array(width);
  const own = new Float64Array(width);
  let spread = 0;
  for (let context = 0; context < contexts; context++) {
    const start = context * n;
    let top = -1;
    for (let i = 0; i < n; i++) top = Math.max(top, t[start + i]);
    let total = 0;
    for (let i = 0; i < n; i++) total += gamma[i] = Math.exp(w * (t[start + i] - top));
    mean.fill(0);
    own.fill(0);
    let square = 0;
    for (let i = 0; i < n; i++) {
      const weight = gamma[i] / total;
      if (weight < 1e-14) continue;                 // 10 000 of them change nothing that is shown
      const place = (start + i) * width;
      square += weight * weight;
      for (let j = 0; j < width; j++) {
        const p = rows[place + j];
        mean[j] += weight * p;
        own[j] += weight * weight * p * p;
      }
    }
    for (let j = 0; j < width; j++) parts[j] += (1 - mean[j]) ** 2 + square - own[j];
    spread += square;
  }
  return {parts: parts.map(value => value / contexts), spread: spread / contexts};
}

const degreesOf = name => name === "affine" ? [1] : [...(name === "relu" ? [1] : []),
  ...Array.from({length: (name === "relu" ? LAST_DRAWN : 40) / 2}, (_, i) => 2 * i + 2)];
/** At a place of the grid: the search for the best window asks for a third of them. */
const momentsOnGrid = kept(32, (name, d, n) => {
  const found = [];
  return i => found[i] ??= drawnMoments(GRID_DRAWN[i], d, n, degreesOf(name));
});

/** The parts of the loss from the moments; the closed form's bias² is split off the signal. */
function drawnParts({parts, spread}, ratios, degrees, {terms, rest}) {
  let signal = rest * (1 + spread);
  let bias = rest;
  for (const [k, c] of terms) {
    signal += c * parts[degrees.indexOf(k)];
    bias += c * (1 - ratios[k]) ** 2;
  }
  return {bias, scatter: signal - bias, spread};
}

/* ---- both */

function weigh({bias, scatter, spread}, sigma) {
  const noise = sigma * sigma * spread;
  return {bias, scatter, noise, effective: 1 / spread, loss: bias + scatter + noise};
}

/** The polynomial through five points at −2, …, 2, at x. */
function through([a, b, c, d, e], x) {
  const [p, q, r, s] = [x + 2, x + 1, x - 1, x - 2];
  return a * q * x * r * s / 24 - b * p * x * r * s / 6 + c * p * q * r * s / 4
    - d * p * q * x * s / 6 + e * p * q * x * r / 24;
}

/**
 * Where a loss on an even grid with places 0 … last is least, by the polynomial through five of its
 * values: a place on it. A first look sees its valleys, which are wider than `COARSE` steps.
 */
function leastPlace(loss, last) {
  let lowest = 0;
  for (let valley = 0; valley <= last; valley += COARSE) {
    const [from, to] = [Math.max(valley - COARSE, 0), Math.min(valley + COARSE, last)];
    if (loss(valley) > Math.min(loss(from), loss(to))) continue;
    for (let i = from; i <= to; i++) if (loss(i) < loss(lowest)) lowest = i;
  }
  const middle = Math.min(Math.max(lowest, 2), last - 2);
  const near = [-2, -1, 0, 1, 2].map(i => loss(middle + i));
  const from = Math.max(lowest - middle - 1, -2);
  const to = Math.min(lowest - middle + 1, 2);
  return middle + golden(x => through(near, x), from, to, 40);
}

/** The model of a loss, its parts at each place of a grid and at any window: the best, the curves. */
function modelOf(grid, partsOn, partsAt, sigma, method) {
  const values = [];
  const value = i => values[i] ??= weigh(partsOn(i), sigma);
  const few = ({effective}) => method === "closed" && effective < FEWEST;
  const at = w => {
    const found = weigh(partsAt(w), sigma);
    return {w, few: few(found), ...found};
  };
  const ending = w => at(w < 1e-6 ? 0 : w);         // a search for no window ends next to it
  const find = () => {
    const place = leastPlace(i => value(i).loss, grid.length - 1);
    if (method === "drawn") return ending(unstretch(place * stretch(W_MAX) / (grid.length - 1)));
    const [from, to] = [Math.floor(place - 0.5), Math.ceil(place + 0.5)]
      .map(i => stretch(grid[Math.min(Math.max(i, 0), grid.length - 1)]));
    return ending(unstretch(golden(u => at(unstretch(u)).loss, from, to, 40)));
  };
  let found = null;
  const curve = part =>
    grid.slice(1).map((w, i) => [w, few(value(i + 1)) ? NaN : value(i + 1)[part]]);
  return {at, best: () => found ??= find(), curve, method};
}

function closedModel(name, d, n, L, sigma) {
  const last = name === "relu" ? LAST : name === "affine" ? 1 : 64;
  const c = taskClass(name, d, L, last);
  const ratios = ratiosOnGrid(d, last);
  const partsOn = i => closedParts(ratios[i], n, c);
  return modelOf(GRID, partsOn, w => closedParts(ratiosAt(w, d, last), n, c), sigma, "closed");
}

function drawnModel(name, d, n, L, sigma) {
  const degrees = degreesOf(name);
  const last = degrees[degrees.length - 1];
  const c = taskClass(name, d, L, last);
  const partsAt = w =>
    drawnParts(drawnMoments(w, d, n, degrees), tilted(w, d, last), degrees, c);
  const moments = momentsOnGrid(name, d, n);
  const partsOn = i => drawnParts(moments(i), tilted(GRID_DRAWN[i], d, last), degrees, c);
  return modelOf(GRID_DRAWN, partsOn, partsAt, sigma, "drawn");
}

/** The loss of a class in dimension d at context length n and noise sigma; method as above. */
function population(name, d, n, L, sigma, method) {
  if (method) return (method === "closed" ? closedModel : drawnModel)(name, d, n, L, sigma);
  const closed = closedModel(name, d, n, L, sigma);
  return closed.best().effective >= ENOUGH ? closed : drawnModel(name, d, n, L, sigma);
}

Object.assign(X, {W_MAX, drawn, population, taskClass});
})(globalThis.iclExplorers ??= {explorers: {}});
