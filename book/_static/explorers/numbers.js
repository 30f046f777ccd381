/* What every tower's numerics share: grids, a minimum, a root, log Gamma, uniform numbers. */
((X) => {
"use strict";

/** `count` numbers from low to high, even in their logarithms. */
const logspace = (low, high, count) =>
  Array.from({length: count}, (_, i) => low * (high / low) ** (i / (count - 1)));

const sum = list => list.reduce((total, value) => total + value, 0);

/** Zero for what is only the rounding of a difference of numbers of size `scale`. */
const settled = (value, scale = 1) => Math.abs(value) < 1e-12 * scale ? 0 : value;

/** The minimum of f on [low, high] (unimodal there), by golden section. */
function golden(f, low, high, steps = 70) {
  const g = (Math.sqrt(5) - 1) / 2;
  let a = low;
  let b = high;
  let c = b - g * (b - a);
  let d = a + g * (b - a);
  let fc = f(c);
  let fd = f(d);
  for (let i = 0; i < steps; i++) {
    if (fc < fd) {
      b = d;
      d = c;
      fd = fc;
      c = b - g * (b - a);
      fc = f(c);
    } else {
      a = c;
      c = d;
      fc = fd;
      d = a + g * (b - a);
      fd = f(d);
    }
  }
  return (a + b) / 2;
}

/** The first whole number in [low, high) for which `holds`, which holds from there on; or high. */
function firstWhere(low, high, holds) {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** log Gamma(x), x > 0 (Stirling's series after a shift to x > 12). */
function lgamma(x) {
  let shift = 0;
  for (; x < 12; x++) shift += Math.log(x);
  const y = 1 / (x * x);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI)
    + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x - shift;
}

/** A stream of uniform numbers that is the same in every browser (mulberry32). */
function uniform(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let z = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** A stream of standard normal numbers (Box and Muller), from a stream of uniform ones. */
function normal(next) {
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** What was computed last for a few keys. */
function kept(size, compute) {
  const known = new Map();
  return (...key) => {
    const name = key.join();
    if (!known.has(name)) {
      if (known.size >= size) known.delete(known.keys().next().value);
      known.set(name, compute(...key));
    }
    return known.get(name);
  };
}

Object.assign(X, {firstWhere, golden, kept, lgamma, logspace, normal, settled, sum, uniform});
})(globalThis.iclExplorers ??= {explorers: {}});
