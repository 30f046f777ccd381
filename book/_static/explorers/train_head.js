/* One attention head M = AᵀA and its training, as iclutils.window.attention and
   iclutils.window.pretraining. */
iclExplorers.define(N => {
  "use strict";
  const SLOW = 0.9;
  const SLOWER = 0.999;
  const EPSILON = 1e-8;
  const START = 1e-3;
  const DECAY = 0.999;

  /** Rows of z, of length d, scaled to length one, in place. */
  N.normalise = (z, d) => {
    for (let i = 0; i < z.length; i += d) {
      let square = 0;
      for (let j = i; j < i + d; j++) square += z[j] * z[j];
      const length = Math.sqrt(square);
      for (let j = i; j < i + d; j++) z[j] /= length;
    }
    return z;
  };

  /** The answers of a head at `query` (rows of length d) to the context x, y, by its kind. */
  N.answers = (M, {d, x, y}, query, kind) => {
    const n = y.length;
    const out = new Float64Array(query.length / d);
    for (let k = 0; k < out.length; k++) {
      const scores = N.scores(M, x, query.subarray(k * d, (k + 1) * d));
      let top = -Infinity;
      let total = 0;
      let sum = 0;
      if (kind === "softmax") for (let i = 0; i < n; i++) top = Math.max(top, scores[i]);
      for (let i = 0; i < n; i++) {
        const mass = kind === "softmax" ? Math.exp(scores[i] - top) : scores[i];
        total += mass;
        sum += mass * y[i];
      }
      out[k] = kind === "softmax" ? sum / total : sum;
    }
    return out;
  };

  /** x_iᵀ M q for every token of x. */
  N.scores = (M, x, q) => {
    const d = q.length;
    const out = new Float64Array(x.length / d);
    const image = new Float64Array(d);
    for (let a = 0; a < d; a++) for (let b = 0; b < d; b++) image[a] += M[a * d + b] * q[b];
    for (let i = 0; i < out.length; i++)
      for (let a = 0; a < d; a++) out[i] += x[i * d + a] * image[a];
    return out;
  };

  /**
   * The gradient in M of the mean squared error over the queries, into `slope`, and that error:
   * (2/Q) Σ r g x_qᵀ with g = Σ γ_i (y_i − ŷ) x_i for softmax and Σ y_i x_i for linear attention.
   */
  N.slope = (M, {d, x, y, query, target}, kind, slope) => {
    const n = y.length;
    const Q = target.length;
    const mass = new Float64Array(n);
    const pull = new Float64Array(d);
    const image = new Float64Array(d);
    const pooled = new Float64Array(d);
    if (kind === "linear")
      for (let i = 0; i < n; i++) for (let a = 0; a < d; a++) pooled[a] += y[i] * x[i * d + a];
    slope.fill(0);
    let error = 0;
    for (let k = 0; k < Q; k++) {
      image.fill(0);
      for (let a = 0; a < d; a++)
        for (let b = 0; b < d; b++) image[a] += M[a * d + b] * query[k * d + b];
      let answer = 0;
      if (kind === "linear") {
        for (let a = 0; a < d; a++) answer += image[a] * pooled[a];
        pull.set(pooled);
      } else {
        let top = -Infinity;
        let total = 0;
        for (let i = 0; i < n; i++) {
          let score = 0;
          for (let a = 0; a < d; a++) score += x[i * d + a] * image[a];
          mass[i] = score;
          if (score > top) top = score;
        }
        for (let i = 0; i < n; i++) {
          mass[i] = Math.exp(mass[i] - top);
          total += mass[i];
          answer += mass[i] * y[i];
        }
        answer /= total;
        pull.fill(0);
        for (let i = 0; i < n; i++) {
          const share = (mass[i] / total) * (y[i] - answer);
          for (let a = 0; a < d; a++) pull[a] += share * x[i * d + a];
        }
      }
      const rest = answer - target[k];
      error += (rest * rest) / Q;
      for (let a = 0; a < d; a++)
        for (let b = 0; b < d; b++) slope[a * d + b] += (2 / Q) * rest * pull[a] * query[k * d + b];
    }
    return error;
  };

  /**
   * A head of dimension d that starts at A = 10⁻³ I and takes Adam's steps (Kingma and Ba 2015,
   * Algorithm 1).
   */
  N.head = (d, kind, rate) => {
    const A = new Float64Array(d * d);
    const M = new Float64Array(d * d);
    const slope = new Float64Array(d * d);
    const first = new Float64Array(d * d);
    const second = new Float64Array(d * d);
    const turn = new Float64Array(d * d);
    for (let a = 0; a < d; a++) A[a * d + a] = START;
    const product = () => {
      M.fill(0);
      for (let c = 0; c < d; c++)
        for (let a = 0; a < d; a++)
          for (let b = 0; b < d; b++) M[a * d + b] += A[c * d + a] * A[c * d + b];
    };
    product();
    let steps = 0;
    let age = 0;
    return {
      M,
      /** The rate's decay starts again: the tasks are others from here on. */
      rejuvenate() {
        age = 0;
      },
      /** One step on one prompt; returns the error on it before the step. */
      learn(prompt) {
        const error = N.slope(M, prompt, kind, slope);
        const now = rate * DECAY ** age++;
        steps++;
        turn.fill(0);
        for (let a = 0; a < d; a++)
          for (let b = 0; b < d; b++)
            for (let c = 0; c < d; c++) {
              turn[a * d + b] += A[a * d + c] * (slope[c * d + b] + slope[b * d + c]);
            }
        for (let i = 0; i < d * d; i++) {
          first[i] += (1 - SLOW) * (turn[i] - first[i]);
          second[i] = SLOWER * second[i] + (1 - SLOWER) * turn[i] * turn[i];
          const root = Math.sqrt(second[i] / (1 - SLOWER ** steps)) + EPSILON;
          A[i] -= now * (first[i] / (1 - SLOW ** steps) / root);
        }
        product();
        return error;
      },
    };
  };

  /**
   * Two heads, softmax and linear, on the same prompts: what trainings of the window and of low
   * rank share. A record is the two errors, then M of the softmax and of the linear head.
   */
  N.pair = d => {
    const softmax = N.head(d, "softmax", 0.1);
    const linear = N.head(d, "linear", 0.01);
    const size = 2 + 2 * d * d;
    let errors = [NaN, NaN];
    return {
      size,
      learn(prompt) {
        errors = [softmax.learn(prompt), linear.learn(prompt)];
      },
      rejuvenate() {
        softmax.rejuvenate();
        linear.rejuvenate();
      },
      record(into, at) {
        into.set(errors, at);
        into.set(softmax.M, at + 2);
        into.set(linear.M, at + 2 + d * d);
      },
    };
  };
});
