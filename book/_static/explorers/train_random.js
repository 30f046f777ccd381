/* Random numbers of named streams: a draw depends on the seed, the role and the step, not on what
   was drawn before. */
iclExplorers.define(N => {
  "use strict";

  const known = [0];
  const logFactorial = n => {
    while (known.length <= n) known.push(known[known.length - 1] + Math.log(known.length));
    return known[n];
  };

  /** The streams' generator (sfc32), started from a hash of the seed and the role's parts. */
  N.random = (...role) => {
    const text = role.join("/");
    let h = 1779033703 ^ text.length;
    for (let i = 0; i < text.length; i++) {
      h = Math.imul(h ^ text.charCodeAt(i), 3432918353);
      h = (h << 13) | (h >>> 19);
    }
    const word = () => {
      h = Math.imul(h ^ (h >>> 16), 2246822507);
      h = Math.imul(h ^ (h >>> 13), 3266489909);
      return (h ^= h >>> 16) | 0;
    };
    let a = word();
    let b = word();
    let c = word();
    let count = 1;
    const bits = () => {
      const t = (((a + b) | 0) + count) | 0;
      count = (count + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + t) | 0;
      return t >>> 0;
    };
    for (let i = 0; i < 12; i++) bits();

    /** Uniform on [0, 1), 53 bits. */
    const uniform = () => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
    let spare = NaN;
    /** Standard Gaussian (Box and Muller 1958). */
    const normal = () => {
      if (spare === spare) {
        const kept = spare;
        spare = NaN;
        return kept;
      }
      const r = Math.sqrt(-2 * Math.log(1 - uniform()));
      const angle = 2 * Math.PI * uniform();
      spare = r * Math.sin(angle);
      return r * Math.cos(angle);
    };
    /**
     * χ² of `degrees` ≥ 1 degrees of freedom (Marsaglia and Tsang 2000; below 2 degrees a square of
     * a Gaussian).
     */
    const chiSquare = degrees => {
      if (degrees === 1) return normal() ** 2;
      const d = degrees / 2 - 1 / 3;
      const s = 1 / Math.sqrt(9 * d);
      for (;;) {
        const x = normal();
        const v = (1 + s * x) ** 3;
        if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d * (1 - v + Math.log(v)))
          return 2 * d * v;
      }
    };
    /**
     * Binomial(n, p), 0 < p < 1: one uniform number, spent on the values from the most likely one
     * outwards.
     */
    const binomial = (n, p) => {
      const odds = p / (1 - p);
      const middle = Math.min(n, Math.floor((n + 1) * p));
      const likely = logFactorial(n) - logFactorial(middle) - logFactorial(n - middle);
      const top = Math.exp(likely + middle * Math.log(p) + (n - middle) * Math.log1p(-p));
      let low = middle;
      let high = middle;
      let below = top;
      let above = top;
      let left = uniform() - top;
      while (left > 0 && (low > 0 || high < n)) {
        if (high < n) {
          above *= ((n - high) / (high + 1)) * odds;
          high += 1;
          left -= above;
          if (left <= 0) return high;
        }
        if (low > 0) {
          below *= low / (n - low + 1) / odds;
          low -= 1;
          left -= below;
          if (left <= 0) return low;
        }
      }
      return middle; // there, or what rounding leaves over
    };
    return {uniform, normal, chiSquare, binomial};
  };
});
