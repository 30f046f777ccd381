/* Training 4, low rank: links of a direction inside a subspace col(B), tokens stretched by J or not,
   or of two parts of length one each (iclutils.window.low_rank_tasks, covariates, alignment). */
iclExplorers.define(N => {
  "use strict";
  const LINKS = {
    linear: s => s,
    affine: s => s + 2,
    quadratic: s => s * s,
    cosine: s => Math.cos(4 * s),
  };

  /**
   * The largest and the least singular value of a symmetric block of M, rows and columns from `low`
   * up to `high`.
   */
  const edges = (M, d, low, high) => {
    const size = high - low;
    const block = Float64Array.from(
      {length: size * size},
      (_, i) => M[(low + ((i / size) | 0)) * d + low + (i % size)],
    );
    const sizes = N.eigen(block, size).values.map(Math.abs);
    return [Math.max(...sizes), Math.min(...sizes)];
  };

  /**
   * What M, seen in the basis [B, B⊥], knows of col(B): masses per direction, ρ =
   * ‖B⊥ᵀMB⊥‖/σ_min(BᵀMB), and the mean squared cosine of its top k eigenvectors with col(B).
   */
  const alignment = (M, d, k) => {
    let relevant = 0;
    let spurious = 0;
    let overlap = 0;
    for (let i = 0; i < d; i++)
      if (i < k) relevant += M[i * d + i] / k;
      else spurious += M[i * d + i] / (d - k);
    const {vectors} = N.eigen(M, d);
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) overlap += vectors[i * d + j] ** 2 / k;
    return {relevant, spurious, overlap, rho: edges(M, d, k, d)[0] / edges(M, d, 0, k)[1]};
  };

  /** The frame [B, B⊥] of a seed, and J = (GᵀG)^½ of its Gaussian G. */
  const scene = ({d}, {normal}) => {
    const frame = N.orthonormal(Float64Array.from({length: d * d}, normal), d, d);
    const G = Float64Array.from({length: d * d}, normal);
    const gram = new Float64Array(d * d);
    const J = new Float64Array(d * d);
    for (let c = 0; c < d; c++)
      for (let i = 0; i < d; i++)
        for (let j = 0; j < d; j++) gram[i * d + j] += G[c * d + i] * G[c * d + j];
    const {values, vectors} = N.eigen(gram, d);
    for (let c = 0; c < d; c++)
      for (let i = 0; i < d; i++)
        for (let j = 0; j < d; j++) {
          J[i * d + j] +=
            Math.sqrt(Math.max(values[c], 0)) * vectors[i * d + c] * vectors[j * d + c];
        }
    return {frame, J};
  };

  /**
   * A prompt from its draws: Gaussians of n + Q tokens, of the task's direction in R^k, and of the
   * noise.
   */
  const prompt = (draws, {d, k, n, sigma, link, J: stretched}, {frame, J}) => {
    const Q = Math.floor(Math.sqrt(n));
    const m = n + Q;
    const a = N.normalise(draws.slice(m * d, m * d + k), k);
    let x = draws.slice(0, m * d);
    const turn = {yes: J, apart: frame}[stretched];
    if (stretched === "apart") // the first k coordinates in the frame, and the others
      for (let i = 0; i < m; i++) {
        N.normalise(x.subarray(i * d, i * d + k), k);
        N.normalise(x.subarray(i * d + k, (i + 1) * d), d - k);
      }
    if (turn) {
      const from = x;
      x = new Float64Array(m * d);
      for (let i = 0; i < m; i++)
        for (let r = 0; r < d; r++)
          for (let c = 0; c < d; c++) x[i * d + r] += turn[r * d + c] * from[i * d + c];
    }
    if (stretched !== "apart") N.normalise(x, d);
    const w = new Float64Array(d); // B a
    for (let r = 0; r < d; r++) for (let c = 0; c < k; c++) w[r] += frame[r * d + c] * a[c];
    const value = Float64Array.from({length: m}, (_, i) => {
      let s = 0;
      for (let c = 0; c < d; c++) s += x[i * d + c] * w[c];
      return LINKS[link](s);
    });
    const y = value.slice(0, n);
    for (let i = 0; i < n; i++) y[i] += sigma * draws[m * d + k + i];
    return {d, x: x.subarray(0, n * d), y, query: x.subarray(n * d), target: value.subarray(n)};
  };

  N.models.lowrank = {
    fixed: ["d", "k"],
    alignment,
    prompt,
    scene,
    start(settings, seed, given) {
      const {d, k} = settings;
      const pair = N.pair(d);
      const here = given || scene(settings, N.random(seed, "scene"));
      return {
        every: 1,
        size: pair.size,
        /** The matrices are recorded in the basis [B, B⊥]. */
        record(into, at) {
          pair.record(into, at);
          for (const from of [at + 2, at + 2 + d * d])
            into.set(N.seenIn(into.slice(from, from + d * d), here.frame, d), from);
        },
        set(changed) {
          settings = changed;
          pair.rejuvenate();
        },
        draw(step) {
          const {normal} = N.random(seed, "lowrank", step);
          const {n} = settings;
          const Q = Math.floor(Math.sqrt(n));
          return Float64Array.from({length: (n + Q) * d + k + n}, normal);
        },
        take(draws) {
          pair.learn(prompt(draws, settings, here));
        },
      };
    },
  };
});
