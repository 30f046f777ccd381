/* The four explorers (book/explorers.md). Plain JavaScript, no library, no request: each draws from the closed formulas
   of iclutils/population.py, asymptotics.py and meanfield.py, which tests/test_explorers.py holds it against. */
(() => {
"use strict";

/* ================================================================= numerics */

const logspace = (low, high, count) =>
  Array.from({length: count}, (_, i) => low * (high / low) ** (i / (count - 1)));
const sum = list => list.reduce((total, value) => total + value, 0);

/** Minimum of f on [low, high] (unimodal there), by golden section. */
function golden(f, low, high, steps = 70) {
  const g = (Math.sqrt(5) - 1) / 2;
  let a = low, b = high, c = b - g * (b - a), d = a + g * (b - a), fc = f(c), fd = f(d);
  for (let i = 0; i < steps; i++) {
    if (fc < fd) { b = d; d = c; fd = fc; c = b - g * (b - a); fc = f(c); }
    else { a = c; c = d; fc = fd; d = a + g * (b - a); fd = f(d); }
  }
  return (a + b) / 2;
}

/** log Gamma(x), x > 0 (Stirling's series after a shift to x > 12). */
function lgamma(x) {
  let shift = 0;
  for (; x < 12; x++) shift += Math.log(x);
  const y = 1 / (x * x);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI)
    + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x - shift;
}

/* ---- the window: population.limit */

const W_MAX = 3000;                                 // the grid's end; w* lies below it for every slider position
const EVEN = Array.from({length: 165}, (_, i) => 2 * i + 2);  // degrees 2, 4, …, 330 = 6·sqrt(W_MAX)

/** log E exp(w t), t = xᵀy on the sphere in R^d: the series of 0F1(; d/2; w²/4), all of whose terms are positive. */
function logPartition(w, d) {
  let term = 1, total = 1, log = 0;
  for (let m = 0; term > 1e-17 * total; m++) {
    term *= (w * w / 4) / ((m + 1) * (d / 2 + m));
    total += term;
    if (total > 1e250) { log += Math.log(total); term /= total; total = 1; }
  }
  return log + Math.log(total);
}

/** I_{k+d/2-1}(w) / I_{d/2-1}(w) for k = 0 … last: the ratios of neighbours by the continued fraction, downwards. */
function tilted(w, d, last) {
  const out = new Float64Array(last + 1);
  out[0] = 1;
  if (w === 0) return out;
  const ratio = new Float64Array(last + 1);         // ratio[k] = I_{k+d/2} / I_{k+d/2-1}
  const start = last + 30 + Math.ceil(6 * Math.sqrt(w)), top = start + d / 2 + 1;  // from there a wrong start has died out
  let r = w / (top + Math.sqrt(top * top + w * w));
  for (let k = start; k >= 0; k--) {
    r = 1 / (2 * (k + d / 2) / w + r);
    if (k <= last) ratio[k] = r;
  }
  for (let k = 0; k < last; k++) out[k + 1] = out[k] * ratio[k];
  return out;
}

/** The covariance E f(x)f(y) = Σ c_k P_k(xᵀy) of a class at L = 1: [degree, c_k] for k > 0, and what the list lacks. */
function spectrum(name, d) {
  if (name === "affine") return {terms: [[1, 1 / (3 * d)]], rest: 0};
  const terms = [[1, 1 / (6 * d)]];
  for (const k of EVEN) {
    const count = Math.log((2 * k + d - 2) / k) + lgamma(k + d - 2) - lgamma(k) - lgamma(d - 1);
    const size = lgamma(d / 2) - 0.5 * Math.log(Math.PI) + (1 - k) * Math.LN2 + lgamma(k - 1)
      - lgamma(k / 2) - lgamma((k + d + 1) / 2);
    terms.push([k, Math.exp(count + 2 * size) / 6]);
  }
  const mean = Math.exp(lgamma(d / 2) - lgamma((d + 1) / 2)) / Math.sqrt(Math.PI);   // E|t|
  return {terms, rest: 1 / (3 * d) - mean * mean / 6 - sum(terms.map(term => term[1]))};
}

/** The loss of the window w for L = 1 tasks: bias², the scatter of the tasks' values over the window, and E Σγ². */
function windowParts(w, d, n, {terms, rest}) {
  const last = terms[terms.length - 1][0];
  const r = tilted(w, d, last), sharper = tilted(2 * w, d, last);
  const spread = Math.exp(logPartition(2 * w, d) - 2 * logPartition(w, d)) / n;
  let bias = Math.max(rest, 0), scatter = bias * spread;
  for (const [k, c] of terms) {
    bias += c * (1 - r[k]) ** 2;
    scatter += c * spread * (1 + 3 * r[k] * r[k] - 2 * r[k] + 2 * (1 - 2 * r[k]) * sharper[k]);
  }
  return {bias, scatter, spread};
}

const W_GRID = Array.from({length: 161}, (_, i) => 0.1 * Math.sinh(i / 160 * Math.asinh(W_MAX / 0.1)));

/** A class in dimension d at context length n: its parts on the grid, the loss anywhere, and the best window. */
function population(name, d, n) {
  const c = spectrum(name, d), grid = W_GRID.map(w => windowParts(w, d, n, c));
  const weigh = ({bias, scatter, spread}, L, sigma) => {
    const parts = {bias: L * L * bias, scatter: L * L * scatter, noise: sigma * sigma * spread, effective: 1 / spread};
    return {...parts, loss: parts.bias + parts.scatter + parts.noise};
  };
  const at = (w, L, sigma) => ({w, ...weigh(windowParts(w, d, n, c), L, sigma)});
  const best = (L, sigma) => {
    const losses = grid.map(p => weigh(p, L, sigma).loss);
    const low = losses.indexOf(Math.min(...losses));
    const u = w => Math.asinh(w / 0.1), back = v => 0.1 * Math.sinh(v);
    const from = u(W_GRID[Math.max(low - 1, 0)]), to = u(W_GRID[Math.min(low + 1, W_GRID.length - 1)]);
    return at(back(golden(v => at(back(v), L, sigma).loss, from, to, 40)), L, sigma);
  };
  const curve = (L, sigma, part) => grid.slice(1).map((p, i) =>  // it ends where the formula stops making sense
    [W_GRID[i + 1], p.spread > 3 ? NaN : weigh(p, L, sigma)[part]]);
  return {at, best, curve};
}

/** A stream of uniform numbers that is the same in every browser (mulberry32). */
function uniform(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let z = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** t = cos(angle to the query) of n tokens drawn uniformly on the sphere in R^d; always the same draw, longest n first. */
function tokens(n, d) {
  const next = uniform(20240 + d);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return Array.from({length: n}, () => {
    const x = Array.from({length: d}, normal);
    return x[0] / Math.hypot(...x);
  });
}

/** Softmax weights of a window on drawn tokens, how many tokens they average over, and the angle that holds half. */
function attention(t, w) {
  const top = Math.max(...t), raw = t.map(value => Math.exp(w * (value - top))), total = sum(raw);
  const weights = raw.map(value => value / total);
  let held = 0, half = 0;
  for (const i of t.map((_, i) => i).sort((a, b) => t[b] - t[a])) {
    held += weights[i];
    half = Math.acos(t[i]);
    if (held >= 0.5) break;
  }
  return {weights, effective: 1 / sum(weights.map(g => g * g)), half};
}

/* ---- double descent: asymptotics.errors */

/** M_kappa(x) and its derivative, without cancellation. */
function marchenkoPastur(x, kappa) {
  const g = 1 / kappa, b = x + 1 - g, s = Math.sqrt(b * b + 4 * x * g);
  const m = b >= 0 ? 2 / (b + s) : (s - b) / (2 * g * x);
  return [m, -m * (1 + g * m) / s];
}

/** The unique root nu >= lambda of 1 − tau + tau·lambda/nu = nu·M_kappa(q + nu), by bisection. */
function effectiveRidge(q, kappa, tau, lambda) {
  if (lambda === 0 && tau >= 1) return 0;
  let low = lambda, high = lambda + (1 + q) / tau;
  for (let i = 0; i < 120; i++) {
    const nu = (low + high) / 2;
    if (1 - tau + tau * lambda / nu > nu * marchenkoPastur(q + nu, kappa)[0]) low = nu; else high = nu;
  }
  return (low + high) / 2;
}

function descentErrors(alpha, kappa, tau, rho, lambda) {
  if (lambda === 0 && tau === 1) return {icl: Infinity, idg: Infinity, nu: 0};
  const q = (1 + rho) / alpha, nu = effectiveRidge(q, kappa, tau, lambda), z = q + nu;
  const [m, slope] = marchenkoPastur(z, kappa);
  const bias = rho + q - z * z * m + 2 * z * nu * m + z * z * nu * slope;
  const idg = tau * bias / (tau - (1 - 2 * nu * m - nu * nu * slope));
  const icl = (1 + q) * (1 - 2 * z * m - z * z * slope) - 2 * (1 - z * m) + 1 + rho + idg * (1 + q) * (m + nu * slope) / tau;
  return {icl, idg, nu};
}

/* ---- phases: meanfield.flow */

const ERROR_END = 0.003;                            // the flow ends where the error passes this
const EPSILONS = [0.1, 0.01];

/** One column: a target of probability p, the dominant feature, and K − 2 (or K − 1) others; entries (A, B1, B). */
function column(kind, K, p1) {
  const rare = (1 - p1) / (K - 1);
  const p = kind === "rare" ? [rare, p1, rare] : [p1, rare, rare];
  const size = kind === "rare" ? [1, 1, K - 2] : [1, 0, K - 1];
  const log = p.map(Math.log);
  const scores = y => {
    const l0 = log[0] + y[0], l1 = log[1] + y[1], l2 = log[2] + y[2], top = Math.max(l0, l1, l2);
    const m0 = Math.exp(l0 - top), m1 = Math.exp(l1 - top), m2 = Math.exp(l2 - top), total = m0 + size[1] * m1 + size[2] * m2;
    const a = [m0 / total, m1 / total, m2 / total], r = size[1] * a[1] + size[2] * a[2];
    return {a, r, error: 0.5 * (r * r + size[1] * a[1] * a[1] + size[2] * a[2] * a[2])};
  };
  const velocity = (y, scale = 1) => {
    const {a, r, error} = scores(y), q = p[0] * scale;
    return [2 * q * a[0] * error, -q * a[1] * (a[1] + r - 2 * error), -q * a[2] * (a[2] + r - 2 * error)];
  };
  return {p, size, scores, velocity};
}

/* Dormand and Prince 5(4). */
const DP_C = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const DP_A = [[1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656], [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]];
const DP_E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

function dormandPrince(f, s, y, h) {
  const k = [f(s, y)], along = (row, i) => {
    let total = 0;
    for (let m = 0; m < row.length; m++) total += row[m] * k[m][i];
    return h * total;
  };
  let now = y;
  for (let j = 0; j < 6; j++) {
    const row = DP_A[j];
    now = [y[0] + along(row, 0), y[1] + along(row, 1), y[2] + along(row, 2)];
    k.push(f(s + DP_C[j] * h, now));
  }
  return {y: now, error: Math.max(Math.abs(along(DP_E, 0)), Math.abs(along(DP_E, 1)), Math.abs(along(DP_E, 2)))};
}

/** The flow of a column from Q = 0 in logarithmic time, with adaptive steps, and when it passes each mark. */
function flow(kind, K, p1) {
  const c = column(kind, K, p1), f = (s, y) => c.velocity(y, Math.exp(s));
  const marks = {half: y => c.scores(y).a[0] - 0.5};
  if (kind === "rare") {
    marks.lead = y => { const v = c.velocity(y); return Math.log(v[0] / -v[1]); };
    marks.overtake = y => Math.log(c.p[0] / c.p[1]) + y[0] - y[1];
  }
  const start = 1e-3;                               // before it nothing moves by more than 1e-3, in a straight line
  let s = Math.log(start), y = c.velocity([0, 0, 0]).map(v => v * start), h = 0.05, steps = 0;
  const path = [[s, y]], passed = {}, open = new Map();
  for (const name in marks) if (marks[name](y) < 0) open.set(name, marks[name]);
  for (const e of [...EPSILONS, ERROR_END]) open.set(e, y => Math.log(e / c.scores(y).error));
  while (open.has(ERROR_END) && steps++ < 20000) {
    const next = dormandPrince(f, s, y, h);
    if (!(next.error < 1e-8)) { h *= Math.max(0.2, 0.9 * (1e-8 / next.error) ** 0.2 || 0.2); continue; }
    for (const [name, mark] of open) {
      if (mark(next.y) < 0) continue;
      let low = 0, high = h;                        // the passage lies in this step: bisect its length
      for (let i = 0; i < 45; i++) {
        const middle = (low + high) / 2;
        if (mark(dormandPrince(f, s, y, middle).y) < 0) low = middle; else high = middle;
      }
      const at = dormandPrince(f, s, y, high).y;
      passed[name] = {t: Math.exp(s + high), A: at[0], B1: at[1]};
      open.delete(name);
    }
    s += h;
    y = next.y;
    path.push([s, y]);
    h = Math.min(Math.exp(s) * c.p[0] > 0.01 * K ? 0.06 : 0.3, h * Math.min(3, 0.9 * (1e-8 / Math.max(next.error, 1e-16)) ** 0.2));
  }
  const points = path.map(([s, y]) => {
    const {a, error} = c.scores(y);
    return {t: Math.exp(s), A: y[0], B1: y[1], target: a[0], dominant: a[1] * c.size[1], others: a[2] * c.size[2], error};
  });
  return {points, passed, steps};
}

/* ================================================================= words and numbers */

const SUPER = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};
const power = e => "10" + String(e).split("").map(c => SUPER[c]).join("");
const minus = text => text.replace("-", "−");

/** A number to `digits` significant digits, as a person writes it. */
function show(x, digits = 4) {
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  const e = Number(x.toExponential(digits - 1).split("e")[1]);
  if (e < -3 || e > 5) {
    const [m, exponent] = x.toExponential(digits - 1).split("e");
    return `${minus(m)}\u00a0×\u00a0${power(Number(exponent))}`;
  }
  return minus(e >= digits ? String(Math.round(x)) : Number(x.toPrecision(digits)).toFixed(Math.max(0, digits - 1 - e)));
}
const plain = x => x === Infinity ? "∞" : Math.abs(x) >= 1e-3 || x === 0 ? String(Number(x.toPrecision(3))) : power(Math.round(Math.log10(x)));

const SVG = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** "~w~^{*}" and "e_{ICL}": italic, raised, lowered; as nodes of a page or of a drawing. */
function rich(text, svg = false) {
  return text.split(/(~[^~]+~|_\{[^}]+\}|\^\{[^}]+\})/).filter(Boolean).flatMap(part => {
    const inner = part.replace(/^(~|_\{|\^\{)|(~|\})$/g, "");
    if (part[0] === "~") return svg ? draw("tspan", {"font-style": "italic"}, inner) : make("i", {}, inner);
    if (!/^[_^]\{/.test(part)) return part;
    if (!svg) return make(part[0] === "_" ? "sub" : "sup", {}, inner);
    const dy = part[0] === "_" ? 3 : -5;
    return [draw("tspan", {dy, "font-size": "0.78em"}, inner), draw("tspan", {dy: -dy}, "\u200b")];
  });
}
const words = text => text.replace(/[~_^{}]/g, "");

/* ================================================================= drawing */

let serial = 0;

function axis(range, log, room) {
  const [low, high] = range;
  if (log) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.max(1, Math.ceil((to - from) / Math.max(2, room)));
    const ticks = [];
    for (let e = from; e <= to; e += step) ticks.push([10 ** e, e >= -2 && e <= 3 ? String(Number((10 ** e).toPrecision(1))) : power(e)]);
    if (ticks.length < 3) for (let e = from - 1; e <= to; e++) for (const m of [2, 5]) {
      const v = m * 10 ** e;
      if (v >= low && v <= high) ticks.push([v, String(Number(v.toPrecision(1)))]);
    }
    return ticks;
  }
  const rough = (high - low) / Math.max(2, room), unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * unit).find(s => s >= rough);
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) {
    ticks.push([v, minus(String(Number(v.toPrecision(6))))]);
  }
  return ticks;
}

/** A drawing in a panel: `lines` [{points, kind}], `marks` (upright lines) [{x, text}], `bands` [{from, to, text}]. */
function plot(panel, {x, y, lines = [], marks = [], bands = [], dots = [], label}) {
  const width = Math.max(240, Math.floor(panel.clientWidth)), height = panel.dataset.height ? Number(panel.dataset.height) : 260;
  const left = y.hidden ? 12 : 50, right = 12, top = bands.length || marks.some(m => m.text) ? 24 : 10, bottom = 44;
  const along = (value, {range: [low, high], log}) =>
    log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const X = value => left + (width - left - right) * along(value, x), Y = value => height - bottom - (height - top - bottom) * along(value, y);
  const clip = `explorer-clip-${serial++}`;
  const svg = draw("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  svg.append(draw("defs", {}, draw("clipPath", {id: clip}, draw("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom}))));
  const inside = draw("g", {"clip-path": `url(#${clip})`});
  let named = -Infinity;
  bands.forEach((band, i) => {
    const from = Math.max(X(Math.max(band.from, x.range[0])), left), to = Math.min(X(band.to), width - right);
    if (to <= from) return;
    inside.append(draw("rect", {x: from, y: top, width: to - from, height: height - top - bottom, class: `x-band x-band-${i % 2}`}));
    if ((from + to) / 2 - named < 16) return;       // too thin to name
    named = (from + to) / 2;
    svg.append(draw("text", {x: named, y: top - 8, "text-anchor": "middle"}, band.text));
  });
  for (const [value, text] of axis(x.range, x.log, (width - left) / 80)) {
    svg.append(draw("line", {x1: X(value), x2: X(value), y1: top, y2: height - bottom, class: "x-grid"}),
      draw("text", {x: X(value), y: height - bottom + 16, "text-anchor": "middle"}, text));
  }
  if (!y.hidden) for (const [value, text] of axis(y.range, y.log, (height - top) / 45)) {
    svg.append(draw("line", {y1: Y(value), y2: Y(value), x1: left, x2: width - right, class: "x-grid"}),
      draw("text", {x: left - 6, y: Y(value) + 4, "text-anchor": "end"}, text));
  }
  svg.append(draw("path", {d: `M${left} ${top}V${height - bottom}H${width - right}`, class: "x-axis"}),
    draw("text", {x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle"}, ...rich(x.label, true)), inside);
  for (const {at, text, kind = "exact"} of marks) {
    if (!(at >= x.range[0] && at <= x.range[1])) continue;
    inside.append(draw("line", {x1: X(at), x2: X(at), y1: top, y2: height - bottom, class: `x-mark x-${kind}`}));
    const px = X(at), anchor = px < left + 40 ? "start" : px > width - right - 40 ? "end" : "middle";
    if (text) svg.append(draw("text", {x: px, y: top - 8, "text-anchor": anchor}, ...rich(text, true)));
  }
  for (const {points, kind, sticks} of lines) {
    let d = "", pen = false;
    for (const [a, b] of points) {
      if (!Number.isFinite(b) || (y.log && b <= 0)) { pen = false; continue; }
      const px = X(a).toFixed(1), py = Math.min(Math.max(Y(b), -1e4), 1e4).toFixed(1);
      d += sticks ? `M${px} ${Y(0).toFixed(1)}V${py}` : `${pen ? "L" : "M"}${px} ${py}`;
      pen = true;
    }
    inside.append(draw("path", {d, class: `${sticks ? "x-stick" : "x-line"} x-${kind}`}));
  }
  for (const {at: [a, b], kind} of dots) {
    if (Number.isFinite(b)) inside.append(draw("circle", {cx: X(a), cy: Y(b), r: 5, class: `x-dot x-${kind}`}));
  }
  panel.replaceChildren(svg);
}

/** Whole decades around the positive values, at most `most` of them, counted from the top. */
function decades(values, most = 8) {
  const good = values.filter(v => v > 0 && Number.isFinite(v));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...good)) - 1e-9);
  const low = 10 ** Math.floor(Math.log10(Math.min(...good)) + 1e-9);
  return [Math.max(low, high / 10 ** most), Math.max(high, low * 10)];
}

/* ================================================================= the four explorers */

const CLASS = {key: "family", label: "class of tasks", options: [["affine", "affine"], ["relu", "ReLU"]], start: "affine"};
const slider = (key, label, values, start, text = plain) => ({key, label, values, start, text});
const CONTEXT = slider("n", "context length ~n~", [40, 63, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000, 6300, 10000], 1000);
const DIMENSION = slider("d", "dimension ~d~", [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30], 3);
const NOISE = slider("sigma", "noise ~σ~", [0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1, 1.6, 2], 0.4);

const caveat = ({effective}) => effective >= 10 ? `It averages over ${show(effective, 2)} tokens.`
  : `It averages over ${show(effective, 2)} tokens only: the closed form is for large ~n~, and rough here.`;

const EXPLORERS = {
  window: {
    title: "the window",
    controls: [CONTEXT, NOISE, slider("L", "Lipschitz constant ~L~", [0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1, 1.4, 2, 2.8, 4, 5], 1), DIMENSION, CLASS],
    panels: [
      {name: "Loss against the window ~w~", height: 280, legend: [["loss", "exact"], ["bias²", "signal"], ["variance: noise", "noise"], ["variance: scatter of the task's values", "dotted"]]},
      {name: "Attention on one drawn context, by angle to the query", height: 170, legend: [["weight of a token, against the largest", "softmax"], ["the window, exp(~w~^{*} cos ~θ~), same scale", "thin"]]},
    ],
    compute({family, n, sigma, L, d}) {
      const p = population(family, d, n), best = p.best(L, sigma), t = tokens(n, d), drawn = attention(t, best.w);
      return {p, best, t, drawn, rows: [
        ["w", "best window ~w~^{*}", best.w], ["loss", "loss at ~w~^{*}", best.loss], ["bias", "of which bias²", best.bias],
        ["noise", "of which noise", best.noise], ["scatter", "of which scatter", best.scatter],
        ["effective", "tokens averaged over, ~n~_{eff}", best.effective],
        ["drawn", "~n~_{eff} of the drawn context", drawn.effective], ["half", "half of its weight within (degrees)", drawn.half * 180 / Math.PI]],
        summary: `Best window ~w~^{*} = ${show(best.w, 3)}: loss ${show(best.loss, 3)} = bias² ${show(best.bias, 3)} + noise ${show(best.noise, 3)} + scatter ${show(best.scatter, 3)}. ${caveat(best)}`};
    },
    draw([loss, strip], {L, sigma}, {p, best, t, drawn, summary}) {
      const curves = ["bias", "noise", "scatter", "loss"].map(part => p.curve(L, sigma, part));
      const y = decades([...curves[3].map(v => v[1]), best.bias, best.noise], 6);
      plot(loss, {label: `Loss, bias squared and variance against the window. ${words(summary)}`,
        x: {label: "window parameter ~w~ (narrower →)", log: true, range: [0.1, W_MAX]}, y: {log: true, range: y},
        lines: ["signal", "noise", "dotted", "exact"].map((kind, i) => ({points: curves[i], kind})),
        marks: [{at: best.w, text: `~w~^{*} = ${show(best.w, 3)}`}], dots: [{at: [best.w, best.loss], kind: "exact"}]});
      const top = Math.max(...drawn.weights), degrees = v => Math.acos(v) * 180 / Math.PI;
      const shown = t.map((value, i) => [degrees(value), drawn.weights[i] / top]).filter(v => v[1] > 2e-3 || t.length <= 1000);
      plot(strip, {label: `Attention weight of each of ${t.length} tokens against its angle to the query; half of the weight lies within ${show(drawn.half * 180 / Math.PI, 2)} degrees.`,
        x: {label: "angle to the query (degrees)", range: [0, 180]}, y: {hidden: true, range: [-0.06, 1.05]},
        lines: [{points: shown.map(([a]) => [a, -0.05]), kind: "rug", sticks: true}, {points: shown, kind: "softmax", sticks: true},
          {points: Array.from({length: 181}, (_, a) => [a, Math.exp(best.w * (Math.cos(a * Math.PI / 180) - Math.max(...t)))]), kind: "thin"}],
        marks: [{at: drawn.half * 180 / Math.PI, text: "half of the weight"}]});
    },
  },

  mismatch: {
    title: "the mismatch",
    controls: [slider("ratio", "test over pretraining, ~L~′/~L~", logspace(0.1, 10, 25), 10 ** 0.5, x => show(x, 3)),
      CONTEXT, slider("sigma", "noise over scale, ~σ~/~L~", NOISE.values, 0.4), DIMENSION, CLASS],
    panels: [
      {name: "How much worse than a matched unit", legend: [["loss at ~w~^{*}(~L~) over loss at ~w~^{*}(~L~′)", "exact"], ["your test", "target", true]]},
      {name: "Loss on the test tasks against the window", legend: [["loss on tasks of ~L~′", "exact"], ["the window it has, ~w~^{*}(~L~)", "target", true], ["the best, ~w~^{*}(~L~′)", "softmax", true]]},
    ],
    compute({ratio, family, n, sigma, d}) {
      const p = population(family, d, n), here = p.best(1, sigma), there = p.best(ratio, sigma), moved = p.at(here.w, ratio, sigma);
      const worse = moved.loss / there.loss;
      return {p, here, there, moved, worse, rows: [
        ["pretrained", "window of pretraining ~w~^{*}(~L~)", here.w], ["matched", "best window for the test ~w~^{*}(~L~′)", there.w],
        ["moved", "test loss at ~w~^{*}(~L~)", moved.loss], ["best", "test loss at ~w~^{*}(~L~′)", there.loss], ["worse", "ratio of the two", worse]],
        summary: `Pretrained at ~L~, tested at ${show(ratio, 3)} ~L~: the loss is ${show(worse, 3)} times that of a unit pretrained on the test's own class. ${there.effective < 10 || here.effective < 10 ? "A window with fewer than ten tokens: the closed form is for large ~n~, and rough here." : ""}`};
    },
    draw([curve, loss], {ratio, family, n, sigma, d}, {p, here, there, moved, worse, summary}) {
      const points = logspace(0.1, 10, 49).map(r => [r, p.at(here.w, r, sigma).loss / p.best(r, sigma).loss]);
      plot(curve, {label: `Ratio of losses against L prime over L. ${words(summary)}`,
        x: {label: "~L~′/~L~", log: true, range: [0.1, 10]}, y: {log: true, range: [1, decades(points.map(v => v[1]))[1]]},
        lines: [{points, kind: "exact"}], marks: [{at: 1}], dots: [{at: [ratio, worse], kind: "target"}]});
      const on = p.curve(ratio, sigma, "loss");
      plot(loss, {label: `Loss on the test tasks against the window; the unit uses ${show(here.w, 3)}, the best is ${show(there.w, 3)}.`,
        x: {label: "window parameter ~w~ (narrower →)", log: true, range: [0.1, W_MAX]}, y: {log: true, range: decades(on.map(v => v[1]), 6)},
        lines: [{points: on, kind: "exact"}], marks: [{at: here.w, kind: "target"}, {at: there.w, kind: "softmax"}],
        dots: [{at: [there.w, there.loss], kind: "softmax"}, {at: [here.w, moved.loss], kind: "target"}]});
    },
  },

  descent: {
    title: "double descent",
    controls: [slider("alpha", "context ~α~ = ~ℓ~/~d~", [0.5, 1, 2, 5, 10, 20, 50, 100], 10),
      slider("kappa", "task diversity ~κ~ = ~k~/~d~", [0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1, 1.1, 1.5, 2, 3, 5, 10, 20, 50, Infinity], 0.5),
      slider("rho", "label noise ~ρ~", [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1], 0.01),
      slider("lambda", "ridge ~λ~", [0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10], 1e-5, x => x === 0 ? "0⁺ (ridgeless)" : plain(x)),
      slider("tau", "read off at ~τ~ = ~n~/~d~²", [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20], 1.5)],
    panels: [{name: "Test error against the number of pretraining prompts", height: 300, legend: [["~e~_{ICL}, fresh tasks", "ICL"], ["~e~_{IDG}, pretraining tasks", "IDG"], ["1 + ~ρ~: answering 0", "thin"]]}],
    compute({alpha, kappa, rho, lambda, tau}) {
      const f = tau => descentErrors(alpha, kappa, tau, rho, lambda), here = f(tau);
      const taus = [...logspace(0.05, 20, 201), ...logspace(1e-4, 0.1, 40).flatMap(e => [1 - e, 1 + e])].sort((a, b) => a - b).filter(v => lambda > 0 || v !== 1);
      const values = taus.map(v => f(v).icl);
      let peak = lambda === 0 ? {tau: 1, height: Infinity} : null;
      for (let i = 1; lambda > 0 && i + 1 < taus.length; i++) if (values[i] > values[i - 1] && values[i] >= values[i + 1] && (!peak || values[i] > peak.height)) {
        const at = Math.exp(golden(u => -f(Math.exp(u)).icl, Math.log(taus[i - 1]), Math.log(taus[i + 1]), 50));
        peak = {tau: at, height: f(at).icl};
      }
      const word = peak ? `The ICL error peaks at ~τ~ = ${show(peak.tau, 3)}${peak.height < Infinity ? `, with ${show(peak.height, 3)}` : ", where it is infinite"}.` : "There is no peak.";
      return {f, here, taus, peak, rows: [
        ["icl", "~e~_{ICL} at ~τ~", here.icl], ["idg", "~e~_{IDG} at ~τ~", here.idg],
        ["gap", "memorization gap ~e~_{ICL} − ~e~_{IDG}", here.icl === Infinity ? NaN : here.icl - here.idg], ["nu", "effective ridge ~ν~", here.nu],
        ["peak", "peak of ~e~_{ICL} at ~τ~ =", peak ? peak.tau : NaN], ["height", "height of the peak", peak ? peak.height : NaN]],
        summary: `At ~τ~ = ${plain(tau)}: ~e~_{ICL} = ${show(here.icl, 3)}, ~e~_{IDG} = ${show(here.idg, 3)}. ${word}`};
    },
    draw([panel], {rho, tau}, {f, here, taus, summary}) {
      const found = taus.map(v => [v, f(v)]), icl = found.map(([v, e]) => [v, e.icl]), idg = found.map(([v, e]) => [v, e.idg]);
      const all = [...icl, ...idg].map(v => v[1]);
      plot(panel, {label: `Both test errors against tau. ${words(summary)}`,
        x: {label: "~τ~ = ~n~/~d~²", log: true, range: [0.05, 20]}, y: {log: true, range: [decades(all)[0], Math.min(100, Math.max(10, decades(all)[1]))]},
        lines: [{points: [[0.05, 1 + rho], [20, 1 + rho]], kind: "thin"}, {points: idg, kind: "IDG"}, {points: icl, kind: "ICL"}], marks: [{at: tau, text: `~τ~ = ${plain(tau)}`}],
        dots: [{at: [tau, here.idg], kind: "IDG"}, {at: [tau, here.icl], kind: "ICL"}]});
    },
  },

  phases: {
    title: "the phases of training",
    controls: [slider("K", "number of features ~K~", [12, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10000], 1000),
      slider("p1", "dominant probability ~p~_{1}", [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85], 0.5)],
    panels: [
      {name: "Weights of a rare query", legend: [["~A~_{k}, on its target", "target"], ["~B~_{k,1}, on the dominant feature", "dominant"]]},
      {name: "Attention of a rare query", legend: [["on its target", "target"], ["on the dominant feature", "dominant"], ["on all others together", "other"]]},
      {name: "Prediction error", legend: [["~ℒ~_{k}, rare query", "target"], ["~ℒ~_{1}, dominant query", "dominant"]]},
    ],
    compute({K, p1}) {
      const rare = flow("rare", K, p1), top = flow("dominant", K, p1), log = Math.log(K), {lead, overtake, half} = rare.passed;
      const at = (mark, key) => mark ? mark[key] : NaN;
      return {rare, top, rows: [
        ["lead", "~t~_{1}: the lead switches", at(lead, "t")], ["overtake", "~t~_{2}: the target overtakes", at(overtake, "t")], ["half", "~t~_{3}: the target takes half", at(half, "t")],
        ["rare1", "rare error passes 0.1", rare.passed[0.1].t], ["rare2", "rare error passes 0.01", rare.passed[0.01].t], ["top2", "dominant error passes 0.01", top.passed[0.01].t],
        ["B1lead", "~B~_{k,1}/log ~K~ at ~t~_{1}", at(lead, "B1") / log], ["Ahalf", "~A~_{k}/log ~K~ at ~t~_{3}", at(half, "A") / log],
        ["wait", "~t~_{3} in units of ~K~²/(1 − ~p~_{1})", at(half, "t") * (1 - p1) / K ** 2]],
        summary: `The dominant feature's error passes 0.01 at ~t~ = ${show(top.passed[0.01].t, 3)}, a rare one's at ${show(rare.passed[0.01].t, 3)}.`
          + (lead ? "" : " Here the target rises fastest from the start: there is no first phase.")};
    },
    draw([weights, scores, error], {K, p1}, {rare, top, summary}) {
      const {lead, overtake, half} = rare.passed, end = rare.points[rare.points.length - 1].t;
      const edges = [0, lead ? lead.t : 0, overtake ? overtake.t : 0, half.t, end];
      const phases = ["I", "II", "III", "IV"].map((text, i) => ({from: edges[i], to: edges[i + 1], text})).filter(b => b.to > b.from);
      const unit = K ** 2 / (1 - p1), bands = phases.map(b => ({...b, from: b.from / unit, to: b.to / unit}));
      const x = {label: "time, in units of ~K~²/(1 − ~p~_{1})", range: [0, end / unit]};
      const line = (path, key, scale = unit) => path.points.map(p => [p.t / scale, p[key]]);
      const reach = Math.max(...rare.points.map(p => p.A)) * 1.08, fall = Math.min(...rare.points.map(p => p.B1)) * 1.15;
      plot(weights, {label: `Weights of a rare query against time, with the phases as bands. ${words(summary)}`, x, y: {range: [fall, reach]}, bands,
        lines: [{points: line(rare, "B1"), kind: "dominant"}, {points: line(rare, "A"), kind: "target"}]});
      plot(scores, {label: "Attention of a rare query against time: on its target, on the dominant feature, on all others.", x, y: {log: true, range: [1 / 10 ** Math.ceil(Math.log10(K)), 1.4]}, bands,
        lines: [{points: line(rare, "others"), kind: "other"}, {points: line(rare, "dominant"), kind: "dominant"}, {points: line(rare, "target"), kind: "target"}]});
      plot(error, {label: "Prediction errors of a rare and of the dominant query against time, on a logarithmic axis.", y: {log: true, range: [0.002, 1]}, bands: phases,
        x: {label: "time ~t~ = ~η~ × steps", log: true, range: [1, 10 ** Math.ceil(Math.log10(end))]},
        lines: [{points: line(top, "error", 1), kind: "dominant"}, {points: line(rare, "error", 1), kind: "target"}]});
    },
  },
};

/** The place of a value in a rising list. */
const nearest = (values, value) => values.findIndex(v => v >= value * (1 - 1e-9));

/* ================================================================= putting one on the page */

function build(root) {
  const name = root.dataset.explorer, spec = EXPLORERS[name], state = {}, shown = {};
  const form = make("form", {class: "x-controls", "aria-label": `Settings: ${spec.title}`});
  const fields = spec.controls.map(control => {
    const id = `explorer-${name}-${control.key}`, label = make("label", {for: id}, ...rich(control.label));
    if (control.options) {
      const select = make("select", {id}, ...control.options.map(([value, text]) => make("option", {value}, text)));
      form.append(make("div", {class: "x-field"}, label, select));
      return {put(value) { state[control.key] = select.value = value; }, input: select, read: () => { state[control.key] = select.value; }, control};
    }
    const input = make("input", {id, type: "range", min: 0, max: control.values.length - 1, step: 1, autocomplete: "off"});
    const output = make("output", {for: id, "aria-live": "off"});
    const read = () => {
      const value = state[control.key] = control.values[Number(input.value)], text = control.text(value);
      output.textContent = text;
      output.dataset.value = String(value);
      input.setAttribute("aria-valuetext", text);
    };
    form.append(make("div", {class: "x-field"}, label, output, input));
    return {put(value) { input.value = String(nearest(control.values, value)); read(); }, input, read, control};
  });
  const copy = make("button", {type: "button", class: "x-reset"}, "Copy a link to these settings");
  const copied = make("span", {class: "x-copied", role: "status"});
  form.append(make("div", {class: "x-buttons"}, make("button", {type: "reset", class: "x-reset"}, "Reset"), copy, copied));
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", event => {
    event.preventDefault();
    fields.forEach(f => f.put(f.control.start));
    history.replaceState(null, "", location.pathname + location.search);
    copied.replaceChildren();
    later();
  });
  fields.forEach(f => f.input.addEventListener("input", () => {
    f.read();
    copied.replaceChildren();
    later();
    clearTimeout(writing);                          // a browser allows only so many changes of its address in a second
    writing = setTimeout(() => history.replaceState(null, "", permalink()), 250);
  }));
  copy.addEventListener("click", async () => {
    clearTimeout(writing);
    history.replaceState(null, "", permalink());
    try {
      await navigator.clipboard.writeText(location.href);
      copied.textContent = "Copied.";
    } catch {                                       // no access to the clipboard: the link, marked, to be copied by hand
      const field = make("input", {type: "text", readonly: "", value: location.href, "aria-label": "link to these settings"});
      copied.replaceChildren(field);
      field.select();
      field.focus();
    }
  });
  const permalink = () => `#explorer-${name}?${new URLSearchParams(fields.map(f => [f.control.key, String(state[f.control.key])]))}`;
  /** Settings that a permalink names; what it does not name, or names wrongly, starts as ever. */
  const restore = query => {
    for (const {put, control} of fields) {
      const text = query.get(control.key), value = Number(text);
      const known = control.options ? control.options.some(option => option[0] === text)
        : text !== null && text !== "" && control.values.some(v => v === value);
      put(!known ? control.start : control.options ? text : value);
    }
    later();
  };

  const panels = spec.panels.map(panel => {
    const frame = make("div", {class: "x-plot", "data-height": panel.height || 260});
    const legend = make("ul", {class: "x-legend"}, ...panel.legend.map(([text, kind, dot]) => {
      const sign = dot ? draw("circle", {cx: 14, cy: 5, r: 5, class: `x-dot x-${kind}`}) : draw("path", {d: "M1 5H27", class: `x-line x-${kind}`});
      const key = draw("svg", {width: 28, height: 10, "aria-hidden": "true"}, sign);
      return make("li", {}, key, make("span", {}, ...rich(text)));
    }));
    return {frame, node: make("figure", {class: "x-panel"}, make("figcaption", {}, ...rich(panel.name)), frame, legend)};
  });
  const list = make("dl", {class: "x-numbers"}), said = make("output", {class: "x-summary"});
  root.append(form, make("div", {class: "x-panels"}, ...panels.map(p => p.node)), said, list);

  let queued = 0, speaking = 0, writing = 0, result;
  const redraw = () => spec.draw(panels.map(p => p.frame), state, result);
  function refresh() {
    queued = 0;
    result = spec.compute(state);
    for (const [key, label, value] of result.rows) {
      if (!shown[key]) {
        shown[key] = make("data", {"data-key": key});
        list.append(make("div", {}, make("dt", {}, ...rich(label)), make("dd", {}, shown[key])));
      }
      shown[key].value = String(value);
      shown[key].textContent = Number.isNaN(value) ? "none" : show(value);
    }
    redraw();
    clearTimeout(speaking);                         // one sentence, when the slider has come to rest
    speaking = setTimeout(() => said.replaceChildren(...rich(result.summary)), said.childNodes.length ? 300 : 0);
    root.dataset.drawn = String(Number(root.dataset.drawn || 0) + 1);
  }
  function later() { if (!queued) queued = requestAnimationFrame(refresh); }
  fields.forEach(f => f.put(f.control.start));
  refresh();
  let width = root.clientWidth;
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; redraw(); } }).observe(root);
  return [name, restore];
}

function begin() {
  const built = new Map([...document.querySelectorAll(".explorer[data-explorer]")].map(build));
  const arrive = () => {                            // at a permalink, #explorer-window?n=1000&…
    const [, name, query] = location.hash.match(/^#explorer-(\w+)\?(.*)$/) || [];
    if (!built.has(name)) return;
    built.get(name)(new URLSearchParams(query));
    document.querySelector(`.explorer[data-explorer=${name}]`).scrollIntoView();
  };
  arrive();
  window.addEventListener("hashchange", arrive);
}
if (typeof document === "undefined") globalThis.explorers = {population, tokens, attention, descentErrors, flow, EXPLORERS};
else {
  window.explorers = {population, tokens, attention, descentErrors, flow};
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
}
})();
