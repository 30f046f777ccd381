/* Small dense matrices, row by row in one array: what the trainings need beyond products. */
iclExplorers.define(N => {
  "use strict";

  /**
   * Columns of a Gaussian matrix (rows × columns, row by row) made orthonormal, in place (Gram and
   * Schmidt, twice).
   */
  N.orthonormal = (A, rows, columns) => {
    for (let c = 0; c < columns; c++) {
      for (let round = 0; round < 2; round++)
        for (let e = 0; e < c; e++) {
          let product = 0;
          for (let r = 0; r < rows; r++) product += A[r * columns + c] * A[r * columns + e];
          for (let r = 0; r < rows; r++) A[r * columns + c] -= product * A[r * columns + e];
        }
      let square = 0;
      for (let r = 0; r < rows; r++) square += A[r * columns + c] ** 2;
      for (let r = 0; r < rows; r++) A[r * columns + c] /= Math.sqrt(square);
    }
    return A;
  };

  /**
   * Eigenvalues and eigenvectors (columns) of a symmetric matrix, falling, by Jacobi's rotations.
   */
  N.eigen = (S, d) => {
    const A = Float64Array.from(S);
    const V = new Float64Array(d * d);
    for (let i = 0; i < d; i++) V[i * d + i] = 1;
    for (let sweep = 0; sweep < 60; sweep++) {
      let off = 0;
      let all = 0;
      for (let i = 0; i < d; i++)
        for (let j = 0; j < d; j++) {
          all += A[i * d + j] ** 2;
          if (i !== j) off += A[i * d + j] ** 2;
        }
      if (off <= 1e-30 * all) break;
      for (let p = 0; p < d; p++)
        for (let q = p + 1; q < d; q++) {
          if (A[p * d + q] === 0) continue;
          const theta = (A[q * d + q] - A[p * d + p]) / (2 * A[p * d + q]);
          const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
          const c = 1 / Math.sqrt(t * t + 1);
          const s = t * c;
          for (let i = 0; i < d; i++) {
            const a = A[i * d + p];
            const b = A[i * d + q];
            A[i * d + p] = c * a - s * b;
            A[i * d + q] = s * a + c * b;
          }
          for (let i = 0; i < d; i++) {
            const a = A[p * d + i];
            const b = A[q * d + i];
            A[p * d + i] = c * a - s * b;
            A[q * d + i] = s * a + c * b;
            const v = V[i * d + p];
            const w = V[i * d + q];
            V[i * d + p] = c * v - s * w;
            V[i * d + q] = s * v + c * w;
          }
        }
    }
    const order = Array.from({length: d}, (_, i) => i).sort((i, j) => A[j * d + j] - A[i * d + i]);
    return {
      values: order.map(i => A[i * d + i]),
      vectors: Float64Array.from({length: d * d}, (_, i) => V[((i / d) | 0) * d + order[i % d]]),
    };
  };

  /** AB of square matrices of size d. */
  N.product = (A, B, d) => {
    const out = new Float64Array(d * d);
    for (let i = 0; i < d; i++)
      for (let j = 0; j < d; j++)
        for (let a = 0; a < d; a++) out[i * d + j] += A[i * d + a] * B[a * d + j];
    return out;
  };

  /** FᵀMF of square matrices of size d. */
  N.seenIn = (M, F, d) => {
    const half = N.product(M, F, d);
    const out = new Float64Array(d * d);
    for (let i = 0; i < d; i++)
      for (let j = 0; j < d; j++)
        for (let a = 0; a < d; a++) out[i * d + j] += F[a * d + i] * half[a * d + j];
    return out;
  };
});
