/* Training 3, stages: softmax attention on K orthonormal features with the tasks integrated out, a
   prompt being its feature counts (iclutils.stages.prompts, layer, training). Column k of Q is row
   k of `theta` here. */
iclExplorers.define(N => {
  "use strict";

  const probabilities = (K, p1) =>
    Float64Array.from({length: K}, (_, k) => (k ? (1 - p1) / (K - 1) : p1));

  /** Counts of N tokens for each of K columns and each prompt of a column: feature by feature. */
  const draw = ({K, p1, prompts, N: tokens}, {binomial}) => {
    const counts = new Float64Array(K * prompts * K);
    for (let from = 0; from < counts.length; from += K) {
      let left = tokens;
      for (let m = 0; m < K - 1; m++) {
        counts[from + m] = binomial(left, m === 0 ? p1 : 1 / (K - m));
        left -= counts[from + m];
      }
      counts[from + K - 1] = left;
    }
    return counts;
  };

  /**
   * One step of every column: ∂L/∂θ_m = p_k E a_m (g_m − Σ a_j g_j), and the columns' errors before
   * it.
   */
  const descend = (theta, counts, {K, p1, prompts, rate}, errors) => {
    const p = probabilities(K, p1);
    const a = new Float64Array(K);
    const scale = new Float64Array(K);
    const gradient = new Float64Array(K);
    for (let k = 0; k < K; k++) {
      let top = -Infinity;
      for (let m = 0; m < K; m++) top = Math.max(top, theta[k * K + m]);
      for (let m = 0; m < K; m++) scale[m] = Math.exp(theta[k * K + m] - top);
      gradient.fill(0);
      errors[k] = 0;
      for (let b = 0; b < prompts; b++) {
        const from = (k * prompts + b) * K;
        let total = 0;
        let inner = 0;
        for (let m = 0; m < K; m++) total += a[m] = counts[from + m] * scale[m];
        for (let m = 0; m < K; m++) {
          a[m] /= total;
          const g = a[m] - (m === k ? 1 : 0);
          inner += a[m] * g;
          errors[k] += (0.5 * g * g) / prompts;
        }
        for (let m = 0; m < K; m++)
          gradient[m] += (a[m] * (a[m] - (m === k ? 1 : 0) - inner)) / prompts;
      }
      for (let m = 0; m < K; m++) theta[k * K + m] -= rate * p[k] * gradient[m];
    }
  };

  /** The attention of every column on every feature for an endless prompt. */
  const attention = (theta, K, p1) => {
    const p = probabilities(K, p1);
    const out = new Float64Array(K * K);
    for (let k = 0; k < K; k++) {
      let total = 0;
      for (let m = 0; m < K; m++) total += out[k * K + m] = p[m] * Math.exp(theta[k * K + m]);
      for (let m = 0; m < K; m++) out[k * K + m] /= total;
    }
    return out;
  };

  N.models.stages = {
    fixed: ["K"],
    attention,
    descend,
    draw,
    probabilities,
    start(settings, seed) {
      const {K} = settings;
      const theta = new Float64Array(K * K);
      const errors = new Float64Array(K);
      return {
        every: K > 32 ? 20 : K > 16 ? 4 : 1,
        size: K * K + K,
        record(into, at) {
          into.set(theta, at);
          into.set(errors, at + K * K);
        },
        set(changed) {
          settings = changed;
        },
        draw: step => draw(settings, N.random(seed, "stages", step)),
        take(counts) {
          descend(theta, counts, settings, errors);
        },
      };
    },
  };
});
