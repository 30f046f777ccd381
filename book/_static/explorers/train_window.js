/* Training 1, the window: tasks of a class on the sphere, one fresh task a step
   (iclutils.window.function_classes, prompts). */
iclExplorers.define(N => {
  "use strict";

  /**
   * f at the tokens x for a task of direction w (unit) and slopes l1, l2 and offset b, drawn at L =
   * 1.
   */
  const CLASSES = {
    affine: (s, {l1, b}, L) => L * (l1 * s + b),
    relu: (s, {l1, l2, b}, L) => L * (l1 * Math.max(s, 0) + l2 * Math.max(-s, 0) + b),
    cosine: (s, task, L) => Math.cos(L * s),
  };
  const values = (x, d, task, {family, L}) =>
    Float64Array.from({length: x.length / d}, (_, i) => {
      let s = 0;
      for (let a = 0; a < d; a++) s += x[i * d + a] * task.w[a];
      return CLASSES[family](s, task, L);
    });

  /**
   * A prompt from its draws: Gaussians of n + Q tokens, the task's direction, l1, l2, b, and
   * Gaussians of the noise.
   */
  const prompt = (draws, settings) => {
    const {d, n, sigma} = settings;
    const Q = Math.floor(Math.sqrt(n));
    const m = (n + Q) * d;
    const tokens = N.normalise(draws.slice(0, m), d);
    const w = N.normalise(draws.slice(m, m + d), d);
    const [l1, l2, b] = draws.subarray(m + d, m + d + 3);
    const value = values(tokens, d, {w, l1, l2, b}, settings);
    const y = value.slice(0, n);
    for (let i = 0; i < n; i++) y[i] += sigma * draws[m + d + 3 + i];
    return {
      d,
      x: tokens.subarray(0, n * d),
      y,
      query: tokens.subarray(n * d),
      target: value.subarray(n),
      tokens,
      w,
      value,
      task: {w, l1, l2, b},
    };
  };

  /** The draws of one prompt: everything that is random in it, for every class. */
  const draw = ({d, n}, {normal, uniform}) => {
    const m = (n + Math.floor(Math.sqrt(n))) * d + d;
    const draws = new Float64Array(m + 3 + n);
    for (let i = 0; i < m; i++) draws[i] = normal();
    for (let i = m; i < m + 3; i++) draws[i] = 2 * uniform() - 1;
    for (let i = m + 3; i < draws.length; i++) draws[i] = normal();
    return draws;
  };

  N.models.window = {
    fixed: ["d"],
    prompt,
    draw,
    values,
    start(settings, seed) {
      const pair = N.pair(settings.d);
      return {
        every: 1,
        size: pair.size,
        record: pair.record,
        set(changed) {
          settings = changed;
          pair.rejuvenate();
        },
        draw: step => draw(settings, N.random(seed, "window", step)),
        take(draws) {
          pair.learn(prompt(draws, settings));
        },
      };
    },
  };
});
