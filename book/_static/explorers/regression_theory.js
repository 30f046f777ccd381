/* The two test errors of linear attention: iclutils/regression/theory/asymptotics.py (errors). */
((X) => {
"use strict";

/** M_kappa(x) and its derivative, without cancellation. */
function marchenkoPastur(x, kappa) {
  const g = 1 / kappa;
  const b = x + 1 - g;
  const s = Math.sqrt(b * b + 4 * x * g);
  const m = b >= 0 ? 2 / (b + s) : (s - b) / (2 * g * x);
  return [m, -m * (1 + g * m) / s];
}

/** The root nu >= lambda of 1 − tau + tau·lambda/nu = nu·M_kappa(q + nu), by bisection. */
function effectiveRidge(q, kappa, tau, lambda) {
  if (lambda === 0 && tau >= 1) return 0;
  let low = lambda;
  let high = lambda + (1 + q) / tau;
  for (let i = 0; i < 120; i++) {
    const nu = (low + high) / 2;
    const rising = 1 - tau + tau * lambda / nu > nu * marchenkoPastur(q + nu, kappa)[0];
    if (rising) low = nu;
    else high = nu;
  }
  return (low + high) / 2;
}

/** The errors on fresh and on practised tasks, and the effective ridge. */
function descentErrors(alpha, kappa, tau, rho, lambda) {
  if (lambda === 0 && tau === 1) return {icl: Infinity, idg: Infinity, nu: 0};
  const q = (1 + rho) / alpha;
  const nu = effectiveRidge(q, kappa, tau, lambda);
  const z = q + nu;
  const [m, slope] = marchenkoPastur(z, kappa);
  const bias = rho + q - z * z * m + 2 * z * nu * m + z * z * nu * slope;
  const idg = tau * bias / (tau - (1 - 2 * nu * m - nu * nu * slope));
  const icl = (1 + q) * (1 - 2 * z * m - z * z * slope) - 2 * (1 - z * m) + 1 + rho
    + idg * (1 + q) * (m + nu * slope) / tau;
  return {icl, idg, nu};
}

Object.assign(X, {descentErrors});
})(globalThis.iclExplorers ??= {explorers: {}});
