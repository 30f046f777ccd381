/* Training 2, how many prompts: a step draws a pretraining set, solves the ridge problem for Γ and
   finds its exact errors (iclutils.regression.samplers, setting, solver). */
iclExplorers.define(N => {
  "use strict";
  const LOW = 0.1;
  const HIGH = 6; // the range of τ = n/d² from which sets are drawn
  const GOLDEN = (Math.sqrt(5) - 1) / 2;

  /** The sizes of a setting at the ratio τ, rounded as in iclutils.regression.experiment. */
  const sizes = ({d, alpha, kappa, lambda}, tau) => {
    const round = v => {
      // half to even, as Python rounds
      const low = Math.floor(v);
      return v - low === 0.5 ? low + (low % 2) : Math.round(v);
    };
    let n = Math.max(1, round(tau * d * d));
    // where the least-squares problem has no unique limit
    if (lambda === 0 && n === d * (d + 1)) n++;
    return {
      n,
      ell: Math.max(1, round(alpha * d)),
      k: kappa === Infinity ? n : Math.max(1, round(kappa * d)),
    };
  };

  /**
   * Cholesky's factor of a symmetric positive definite matrix, in place (lower), and the solution
   * of Ax = b.
   */
  const choleskySolve = (A, b, size) => {
    for (let j = 0; j < size; j++) {
      const row = j * size;
      for (let i = j; i < size; i++) {
        const other = i * size;
        let total = A[other + j];
        for (let c = 0; c < j; c++) total -= A[other + c] * A[row + c];
        A[other + j] = i === j ? Math.sqrt(total) : total / A[row + j];
      }
    }
    const x = Float64Array.from(b);
    for (let i = 0; i < size; i++) {
      for (let c = 0; c < i; c++) x[i] -= A[i * size + c] * x[c];
      x[i] /= A[i * size + i];
    }
    for (let i = size - 1; i >= 0; i--) {
      for (let c = i + 1; c < size; c++) x[i] -= A[c * size + i] * x[c];
      x[i] /= A[i * size + i];
    }
    return x;
  };

  /**
   * argmin Σ(y − xᵀΓv)² + (n/d) λ‖Γ‖² by the smaller of the two systems of normal equations; for λ
   * = 0 and n < d(d+1) the least Γ that fits all prompts.
   */
  const solve = ({x, v, y}, d, lambda) => {
    const n = y.length;
    const e = d + 1;
    const size = d * e;
    const ridge = (n / d) * lambda;
    const gamma = new Float64Array(size);
    const design = new Float64Array(n * size);
    for (let i = 0; i < n; i++)
      for (let a = 0; a < d; a++)
        for (let b = 0; b < e; b++) {
          design[i * size + a * e + b] = x[i * d + a] * v[i * e + b];
        }
    if (n < size) {
      const K = new Float64Array(n * n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j <= i; j++) {
          let xx = 0;
          let vv = 0;
          for (let a = 0; a < d; a++) xx += x[i * d + a] * x[j * d + a];
          for (let b = 0; b < e; b++) vv += v[i * e + b] * v[j * e + b];
          K[i * n + j] = xx * vv + (i === j ? ridge : 0);
        }
      const a = choleskySolve(K, y, n);
      for (let i = 0; i < n; i++)
        for (let p = 0; p < size; p++) gamma[p] += a[i] * design[i * size + p];
      return gamma;
    }
    const normal = new Float64Array(size * size);
    const right = new Float64Array(size);
    for (let i = 0; i < n; i++)
      for (let p = 0, at = i * size; p < size; p++) {
        const value = design[at + p];
        right[p] += value * y[i];
        for (let q = 0, row = p * size; q <= p; q++) normal[row + q] += value * design[at + q];
      }
    for (let p = 0; p < size; p++) normal[p * size + p] += ridge;
    return choleskySolve(normal, right, size);
  };

  /**
   * Exact moments over prompts: `second` (e × e), `cross` (d × e) and the mean of ‖w‖², on tasks
   * that are given with weights, or on fresh ones.
   */
  const freshMoments = (d, ell, rho) => {
    const e = d + 1;
    const second = new Float64Array(e * e);
    const cross = new Float64Array(d * e);
    for (let i = 0; i < d; i++) {
      second[i * e + i] = 1 + 1 / ell + (d / ell) * (1 + rho);
      cross[i * e + i] = 1;
    }
    second[e * e - 1] = (1 + 2 / ell) * ((1 + rho) ** 2 + 2 / d);
    return {second, cross, power: d};
  };
  const moments = (tasks, d, ell, rho, weights) => {
    const e = d + 1;
    const second = new Float64Array(e * e);
    const cross = new Float64Array(d * e);
    const spread = new Float64Array(d * d);
    let whole = 0;
    let mean = 0;
    let square = 0;
    let power = 0;
    for (const weight of weights) whole += weight;
    weights.forEach((weight, j) => {
      const w = tasks.subarray(j * d, (j + 1) * d);
      const p = weight / whole;
      let norm = 0;
      for (let a = 0; a < d; a++) norm += w[a] * w[a];
      const r = norm / d + rho;
      mean += p * r;
      square += p * r * r;
      power += p * norm;
      for (let a = 0; a < d; a++) {
        cross[a * e + d] += p * r * w[a];
        for (let b = 0; b < d; b++) spread[a * d + b] += p * w[a] * w[b];
      }
    });
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        cross[a * e + b] = spread[a * d + b];
        second[a * e + b] = (1 + 1 / ell) * spread[a * d + b] + (a === b ? (d / ell) * mean : 0);
      }
      second[a * e + d] = second[d * e + a] = (1 + 2 / ell) * cross[a * e + d];
    }
    second[e * e - 1] = (1 + 2 / ell) * square;
    return {second, cross, power};
  };

  /** ρ + (E‖w‖² − 2 tr ΓᵀA + tr ΓSΓᵀ)/d. */
  const error = (gamma, {second, cross, power}, d, rho) => {
    const e = d + 1;
    let total = power;
    for (let a = 0; a < d; a++)
      for (let b = 0; b < e; b++) {
        let product = 0;
        for (let c = 0; c < e; c++) product += gamma[a * e + c] * second[c * e + b];
        total += gamma[a * e + b] * (product - 2 * cross[a * e + b]);
      }
    return rho + total / d;
  };

  /**
   * Tasks and reduced prompts of one set, drawn as iclutils.regression.samplers.sample draws them.
   */
  const draw = ({d, rho}, {n, ell, k}, {normal, chiSquare}) => {
    const e = d + 1;
    const tasks = Float64Array.from({length: k * d}, normal);
    const x = new Float64Array(n * d);
    const v = new Float64Array(n * e);
    const y = new Float64Array(n);
    const across = new Float64Array(d);
    for (let i = 0; i < n; i++) {
      const w = tasks.subarray((i % k) * d, ((i % k) + 1) * d);
      let square = 0;
      for (let a = 0; a < d; a++) square += w[a] * w[a];
      const norm = Math.sqrt(square);
      const w11 = chiSquare(ell);
      const t = normal();
      const w22 = t * t + (ell > 1 ? chiSquare(ell - 1) : 0);
      const w12 = Math.sqrt(w11) * t;
      const noise = Math.sqrt(rho / d);
      const along = (norm * w11) / d + noise * w12;
      const labels = norm * (along + noise * w12) + rho * w22;
      let inside = 0;
      let answer = 0;
      for (let a = 0; a < d; a++) {
        across[a] = normal() * Math.sqrt(Math.max(labels, 0) / d);
        inside += (across[a] * w[a]) / norm;
      }
      for (let a = 0; a < d; a++) {
        v[i * e + a] = ((across[a] + (w[a] / norm) * (along - inside)) * d) / ell;
        x[i * d + a] = normal() / Math.sqrt(d);
        answer += x[i * d + a] * w[a];
      }
      v[i * e + d] = labels / ell;
      y[i] = answer + Math.sqrt(rho) * normal();
    }
    return {tasks, x, v, y};
  };

  /** Both exact errors of the Γ that a set gives. */
  const judge = (set, {d, rho, lambda, kappa}, {n, ell, k}) => {
    const gamma = solve(set, d, lambda);
    const fresh = freshMoments(d, ell, rho);
    const weights = Float64Array.from(
      {length: k},
      (_, j) => Math.floor(n / k) + (j < n % k ? 1 : 0),
    );
    const own = kappa === Infinity ? fresh : moments(set.tasks, d, ell, rho, weights);
    return {icl: error(gamma, fresh, d, rho), idg: error(gamma, own, d, rho)};
  };

  N.models.prompts = {
    fixed: ["d", "alpha", "kappa", "rho", "lambda"],
    LOW,
    HIGH,
    draw,
    error,
    freshMoments,
    judge,
    moments,
    sizes,
    solve,
    /** τ of the sets: a sequence that fills the logarithmic axis evenly at every length. */
    tau: step => LOW * (HIGH / LOW) ** ((0.5 + step * GOLDEN) % 1),
    start(settings, seed) {
      let row = [NaN, NaN, NaN];
      return {
        every: 1,
        size: 3,
        record(into, at) {
          into.set(row, at);
        },
        set(changed) {
          settings = changed;
        },
        draw(step) {
          const size = sizes(settings, N.models.prompts.tau(step));
          return {size, set: draw(settings, size, N.random(seed, "set", step))};
        },
        take({size, set}) {
          const {icl, idg} = judge(set, settings, size);
          row = [size.n, icl, idg];
        },
      };
    },
  };
});
