/* The mean-field flow of one column: iclutils/stages/theory/meanfield.py (flow). */
((X) => {
"use strict";
const ERROR_END = 0.003;                            // the flow ends where the error passes this
const EPSILON = 0.1;
const START = 1e-3;                                 // before it all moves in a straight line
const TOLERANCE = 1e-8;                             // of one step

/**
 * A column of entries (A, B1, B): a target, the dominant feature, and K − 2 (or K − 1) others.
 * `scores` are the attentions and the error, `velocity` the flow.
 */
function column(kind, K, p1) {
  const rare = (1 - p1) / (K - 1);
  const p = kind === "rare" ? [rare, p1, rare] : [p1, rare, rare];
  const size = kind === "rare" ? [1, 1, K - 2] : [1, 0, K - 1];
  const log = p.map(Math.log);
  const scores = y => {
    const logits = [log[0] + y[0], log[1] + y[1], log[2] + y[2]];
    const top = Math.max(logits[0], logits[1], logits[2]);
    const m = [Math.exp(logits[0] - top), Math.exp(logits[1] - top), Math.exp(logits[2] - top)];
    const total = m[0] + size[1] * m[1] + size[2] * m[2];
    const a = [m[0] / total, m[1] / total, m[2] / total];
    const r = size[1] * a[1] + size[2] * a[2];
    return {a, r, error: 0.5 * (r * r + size[1] * a[1] * a[1] + size[2] * a[2] * a[2])};
  };
  const velocity = (y, scale = 1) => {
    const {a, r, error} = scores(y);
    const q = p[0] * scale;
    return [2 * q * a[0] * error, -q * a[1] * (a[1] + r - 2 * error),
      -q * a[2] * (a[2] + r - 2 * error)];
  };
  return {p, size, scores, velocity};
}

/* Dormand and Prince 5(4). */
const TIMES = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const DIFFERENCE = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

function dormandPrince(f, s, y, h) {
  const k = [f(s, y)];
  const along = (row, i) => {
    let total = 0;
    for (let m = 0; m < row.length; m++) total += row[m] * k[m][i];
    return h * total;
  };
  let now = y;
  for (let j = 0; j < 6; j++) {
    const row = STAGES[j];
    now = [y[0] + along(row, 0), y[1] + along(row, 1), y[2] + along(row, 2)];
    k.push(f(s + TIMES[j] * h, now));
  }
  const errors = [0, 1, 2].map(i => Math.abs(along(DIFFERENCE, i)));
  return {y: now, error: Math.max(...errors)};
}

/**
 * The flow from Q = 0 in logarithmic time, with adaptive steps, and the times at which it `passed`
 * the target's half and the errors.
 */
function flow(kind, K, p1) {
  const c = column(kind, K, p1);
  const f = (s, y) => c.velocity(y, Math.exp(s));
  const open = new Map([["half", y => c.scores(y).a[0] - 0.5]]);
  let s = Math.log(START);
  let y = c.velocity([0, 0, 0]).map(v => v * START);
  let h = 0.05;
  let steps = 0;
  const path = [[s, y]];
  const passed = {};
  for (const [name, mark] of open) if (!(mark(y) < 0)) open.delete(name);
  for (const e of [EPSILON, ERROR_END]) open.set(e, at => Math.log(e / c.scores(at).error));
  while (open.has(ERROR_END) && steps++ < 20000) {
    const next = dormandPrince(f, s, y, h);
    if (!(next.error < TOLERANCE)) {
      h *= Math.max(0.2, 0.9 * (TOLERANCE / next.error) ** 0.2 || 0.2);
      continue;
    }
    for (const [name, mark] of open) {
      if (mark(next.y) < 0) continue;
      let low = 0;
      let high = h;                                 // the passage lies in this step: bisect it
      for (let i = 0; i < 45; i++) {
        const middle = (low + high) / 2;
        if (mark(dormandPrince(f, s, y, middle).y) < 0) low = middle;
        else high = middle;
      }
      passed[name] = {t: Math.exp(s + high)};
      open.delete(name);
    }
    s += h;
    y = next.y;
    path.push([s, y]);
    const longest = Math.exp(s) * c.p[0] > 0.01 * K ? 0.06 : 0.3;
    h = Math.min(longest, h * Math.min(3, 0.9 * (TOLERANCE / Math.max(next.error, 1e-16)) ** 0.2));
  }
  const points = path.map(([s, y]) => {
    const {a, error} = c.scores(y);
    return {t: Math.exp(s), A: y[0], B1: y[1], target: a[0], dominant: a[1] * c.size[1],
      others: a[2] * c.size[2], error};
  });
  return {points, passed, steps};
}

Object.assign(X, {flow});
})(globalThis.iclExplorers ??= {explorers: {}});
