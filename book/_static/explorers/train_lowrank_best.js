/* The best heads of the form M = cBBᵀ + eB_⊥B_⊥ᵀ before low-rank tasks: tasks and noise integrated
   out, contexts drawn, always the same ones (iclutils.window.theory.lowrank, window.links). */
iclExplorers.define(N => {
  "use strict";
  const CONTEXTS = 200;
  const QUERIES = 4;                                  // of each context
  const STARTS = [1, 3, 8, 20];
  const SHARES = [0, 0.3, 1];                         // e/c of the starts
  const STEPS = 60;
  const CONVERGED = 1e-12;                            // of the loss: what a step promises

  /** The mean of cos(z·a) over unit vectors a in R^k, |z| = r; for k = 2 by the trapezoid rule. */
  const WAVES = {
    1: r => Math.cos(r),
    2: r => {
      let total = (Math.cos(r) + 1) / 2;
      for (let j = 1; j < 8; j++) total += Math.cos(r * Math.cos(j * Math.PI / 16));
      return total / 8;
    },
    3: r => r < 1e-6 ? 1 : Math.sin(r) / r,
  };

  /** The mean of f(x)f(x′) over tasks, from |u|², |u′|² and t = uᵀu′. */
  const KERNELS = {
    linear: k => (a, b, t) => t / k,
    affine: k => (a, b, t) => t / k + 4,
    quadratic: k => (a, b, t) => (a * b + 2 * t * t) / (k * (k + 2)),
    cosine: k => (a, b, t) => (WAVES[k](4 * Math.sqrt(Math.max(a + b - 2 * t, 0)))
      + WAVES[k](4 * Math.sqrt(Math.max(a + b + 2 * t, 0)))) / 2,
  };

  /** The tokens of one context and its queries, in the basis [B, B_⊥], row by row. */
  function contextOf(index, {d, n, J: stretched}, {frame, J}) {
    const {normal} = N.random("low-rank contexts", d, index);
    const z = Float64Array.from({length: (n + QUERIES) * d}, normal);
    if (stretched !== "yes") return N.normalise(z, d);
    const seen = N.product(J, frame, d);              // zᵀ becomes (Jz)ᵀ[B, B_⊥]; J is symmetric
    const x = new Float64Array(z.length);
    for (let i = 0; i < z.length; i += d) {
      for (let a = 0; a < d; a++) {
        for (let b = 0; b < d; b++) x[i + b] += z[i + a] * seen[a * d + b];
      }
    }
    return N.normalise(x, d);
  }

  /** A context as the loss sees it: kernels, and for each query both parts of every logit. */
  function momentsOf(x, {d, k, n, link}) {
    const kernel = KERNELS[link](k);
    const dot = (i, j, from, to) => {
      let total = 0;
      for (let a = from; a < to; a++) total += x[i * d + a] * x[j * d + a];
      return total;
    };
    const square = Float64Array.from({length: x.length / d}, (_, i) => dot(i, i, 0, k));
    const between = (i, j) => kernel(square[i], square[j], dot(i, j, 0, k));
    const inner = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) inner[i * n + j] = inner[j * n + i] = between(i, j);
    }
    const rows = Array.from({length: n}, (_, i) => i);
    const queries = Array.from({length: QUERIES}, (_, q) => ({
      own: between(n + q, n + q),
      cross: Float64Array.from(rows, i => between(i, n + q)),
      near: Float64Array.from(rows, i => dot(i, n + q, 0, k)),
      far: Float64Array.from(rows, i => dot(i, n + q, k, d)),
    }));
    return {inner, queries};
  }

  const lowrankSample = (settings, scene) =>
    Array.from({length: CONTEXTS}, (_, i) => momentsOf(contextOf(i, settings, scene), settings));

  function times(inner, v) {
    const n = v.length;
    const out = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let total = 0;
      for (let j = 0; j < n; j++) total += inner[i * n + j] * v[j];
      out[i] = total;
    }
    return out;
  }

  function product(a, b) {
    let total = 0;
    for (let i = 0; i < a.length; i++) total += a[i] * b[i];
    return total;
  }

  /** The softmax head's mean loss at (c, e); its gradient and Hessian [cc, ce, ee] on demand. */
  function lowrankLoss(sample, c, e, sigma, slopes = false) {
    const noise = sigma * sigma;
    const found = {loss: 0, gradient: [0, 0], hessian: [0, 0, 0]};
    const share = 1 / (sample.length * QUERIES);
    for (const {inner, queries} of sample) {
      for (const {own, cross, near, far} of queries) {
        const logits = near.map((v, i) => c * v + e * far[i]);
        const top = Math.max(...logits);
        const mass = logits.map(v => Math.exp(v - top));
        const total = mass.reduce((all, v) => all + v, 0);
        const gamma = mass.map(v => v / total);
        const pulled = times(inner, gamma);
        const signal = own + product(gamma, pulled) - 2 * product(gamma, cross);
        found.loss += share * (signal + noise * product(gamma, gamma));
        if (!slopes) continue;
        const g = gamma.map((v, i) => 2 * (pulled[i] - cross[i] + noise * v));
        const mean = product(gamma, g);
        const centred = [near, far].map(part => {
          const middle = product(gamma, part);
          return part.map(v => v - middle);
        });
        const moves = centred.map(part => part.map((v, i) => gamma[i] * v));
        const turned = moves.map(move => times(inner, move));
        [[0, 0], [0, 1], [1, 1]].forEach(([p, q], at) => {
          let bend = 2 * (product(moves[p], turned[q]) + noise * product(moves[p], moves[q]));
          for (let i = 0; i < gamma.length; i++) {
            bend += moves[p][i] * centred[q][i] * (g[i] - mean);
          }
          found.hessian[at] += share * bend;
        });
        moves.forEach((move, p) => { found.gradient[p] += share * product(move, g); });
      }
    }
    return found;
  }

  /** Newton's method with halved steps on c ≥ 0, e ≥ 0 (a trained head has no negative mass). */
  function descend(sample, start, sigma) {
    let at = start;
    let now = lowrankLoss(sample, ...at, sigma, true);
    for (let step = 0; step < STEPS; step++) {
      const {gradient: [gc, ge], hessian: [cc, ce, ee]} = now;
      const held = at[1] === 0 && ge > 0;             // e would turn negative: c alone moves
      const det = cc * ee - ce * ce;
      const curved = cc > 0 && det > 0;
      let move = curved ? [(ee * gc - ce * ge) / det, (cc * ge - ce * gc) / det]
        : [gc / Math.max(Math.abs(cc), 1e-9), ge / Math.max(Math.abs(ee), 1e-9)];
      if (held) move = [gc / Math.max(Math.abs(cc), 1e-9), 0];
      if (gc * move[0] + ge * move[1] <= CONVERGED * now.loss) break;
      let next;
      let size = 1;
      do {
        next = [0, 1].map(i => Math.max(at[i] - size * move[i], 0));
        size /= 2;
      } while (lowrankLoss(sample, ...next, sigma).loss > now.loss && size > 1e-6);
      if (size <= 1e-6) break;
      at = next;
      now = lowrankLoss(sample, ...at, sigma, true);
    }
    return {c: at[0], e: at[1], loss: now.loss};
  }

  /** The softmax head of least loss; a part of the sample says where to start. */
  function bestSoftmax(sample, sigma) {
    const few = sample.slice(0, CONTEXTS / 8);
    const starts = STARTS.flatMap(c => SHARES.map(share => [c, share * c]));
    const losses = starts.map(start => lowrankLoss(few, ...start, sigma).loss);
    const {c, e} = descend(few, starts[losses.indexOf(Math.min(...losses))], sigma);
    return descend(sample, [c, e], sigma);
  }

  /** The linear head of least loss: its loss is a quadratic form in (c, e). */
  function bestLinear(sample, sigma) {
    const second = [0, 0, 0];
    const first = [0, 0];
    let own = 0;
    const share = 1 / (sample.length * QUERIES);
    for (const {inner, queries} of sample) {
      for (const {own: power, cross, near, far} of queries) {
        const pulled = times(inner, near);
        own += share * power;
        second[0] += share * (product(near, pulled) + sigma ** 2 * product(near, near));
        second[1] += share * (product(far, pulled) + sigma ** 2 * product(far, near));
        second[2] += share * (product(far, times(inner, far)) + sigma ** 2 * product(far, far));
        first[0] += share * product(near, cross);
        first[1] += share * product(far, cross);
      }
    }
    const [cc, ce, ee] = second;
    const det = cc * ee - ce * ce;
    const c = (ee * first[0] - ce * first[1]) / det;
    const e = (cc * first[1] - ce * first[0]) / det;
    return {c, e, loss: own - c * first[0] - e * first[1]};
  }

  /** Both heads of least loss: {softmax, linear}, {c, e, loss} each. */
  function lowrankBest(settings, scene) {
    const sample = lowrankSample(settings, scene);
    const {sigma} = settings;
    return {softmax: bestSoftmax(sample, sigma), linear: bestLinear(sample, sigma)};
  }

  const known = new Map();
  /** What is best for a run's settings and seed; without a stretch neither frame nor seed matter. */
  function best(settings, seed) {
    const {d, k, link, J} = settings;
    const key = [d, k, link, J === "yes" ? seed : J].join();
    if (!known.has(key)) {
      const scene = J === "yes" ? N.models.lowrank.scene(settings, N.random(seed, "scene")) : {};
      known.set(key, lowrankBest(settings, scene));
    }
    return known.get(key);
  }

  const shared = {CONTEXTS, best, contextOf, lowrankBest, lowrankLoss, lowrankSample};
  Object.assign(N.models.lowrank, shared);
});
