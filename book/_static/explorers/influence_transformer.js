/* A whole transformer on one prompt of the circle: iclutils/transformer/models.py, for d = 2. */
((X) => {
"use strict";
const {sum} = X;
const [BLOCKS, HEADS, WIDTH, HIDDEN] = [2, 2, 32, 128];
const HEAD = WIDTH / HEADS;
const EPS = 1e-5;                                   // added to the variance in the norms
const LARGEST = 32767;
const STEP = 3e-6;                                  // of a label, in units, for a derivative

/** Name and shape of every array, in the order in which they are kept. */
const SHAPES = (() => {
  const found = [["embed", 4, WIDTH], ["embed bias", 1, WIDTH]];
  for (let i = 0; i < BLOCKS; i++) {
    found.push([`scale ${i}`, 1, WIDTH], [`shift ${i}`, 1, WIDTH]);
    for (const name of "QKVO") found.push([`${name} ${i}`, WIDTH, WIDTH]);
    for (const name of "QKVO") found.push([`${name} bias ${i}`, 1, WIDTH]);
    found.push([`dense scale ${i}`, 1, WIDTH], [`dense shift ${i}`, 1, WIDTH],
      [`up ${i}`, WIDTH, HIDDEN], [`up bias ${i}`, 1, HIDDEN],
      [`down ${i}`, HIDDEN, WIDTH], [`down bias ${i}`, 1, WIDTH]);
  }
  return [...found, ["scale", 1, WIDTH], ["shift", 1, WIDTH], ["read", WIDTH, 1],
    ["read bias", 1, 1]];
})();

/** The bytes of a text in base 64. */
function bytesOf(text) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const value = Object.fromEntries([...letters].map((letter, i) => [letter, i]));
  const bytes = new Uint8Array(Math.floor(text.replace(/=/g, "").length * 3 / 4));
  let [held, bits, at] = [0, 0, 0];
  for (const letter of text) {
    if (letter === "=") break;
    held = (held << 6 | value[letter]) & 0xfffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits & 255;
  }
  return bytes;
}

/** The arrays of a network that was kept as {scales, data} (iclutils/transformer/storage.py). */
function unpacked({scales, data}) {
  const bytes = bytesOf(data);
  const net = {};
  let at = 0;
  SHAPES.forEach(([name, rows, columns], k) => {
    net[name] = Float64Array.from({length: rows * columns}, (_, i) => {
      const low = bytes[2 * (at + i)];
      const signed = (bytes[2 * (at + i) + 1] << 24 >> 16) | low;
      return signed * scales[k] / LARGEST;
    });
    at += rows * columns;
  });
  return net;
}

/** A row times a matrix, plus a bias. */
function linear(row, matrix, bias) {
  const out = Float64Array.from(bias);
  const columns = bias.length;
  for (let i = 0; i < row.length; i++) {
    const value = row[i];
    const from = i * columns;
    for (let j = 0; j < columns; j++) out[j] += value * matrix[from + j];
  }
  return out;
}

/** A row with mean 0 and variance 1, scaled and shifted. */
function normed(row, scale, shift) {
  let [mean, square] = [0, 0];
  for (const value of row) mean += value / row.length;
  for (const value of row) square += (value - mean) ** 2;
  const size = 1 / Math.sqrt(square / row.length + EPS);
  return row.map((value, i) => (value - mean) * size * scale[i] + shift[i]);
}

const added = (a, b) => a.map((value, i) => value + b[i]);

const gelu = x =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** What the heads make of the examples' values v for a row that asks q. */
function attended(q, k, v) {
  const out = new Float64Array(WIDTH);
  for (let from = 0; from < WIDTH; from += HEAD) {
    const scores = k.map(key => {
      let score = 0;
      for (let j = from; j < from + HEAD; j++) score += q[j] * key[j];
      return score / Math.sqrt(HEAD);
    });
    const top = Math.max(...scores);
    const mass = scores.map(score => Math.exp(score - top));
    const total = sum(mass);
    mass.forEach((weight, i) => {
      for (let j = from; j < from + HEAD; j++) out[j] += weight / total * v[i][j];
    });
  }
  return out;
}

/** A row after block i, which sees the examples by their keys and values. */
function afterBlock(net, i, row, own, {k, v}) {
  const part = (h, name) => linear(h, net[`${name} ${i}`], net[`${name} bias ${i}`]);
  const middle = added(row, part(attended(part(own, "Q"), k, v), "O"));
  const dense = normed(middle, net[`dense scale ${i}`], net[`dense shift ${i}`]);
  return added(middle, part(part(dense, "up").map(gelu), "down"));
}

const embedded = (net, token) => linear(token, net.embed, net["embed bias"]);

const ownOf = (net, i, row) => normed(row, net[`scale ${i}`], net[`shift ${i}`]);

/** The keys and values of the examples in every block: [angle in degrees, label in units]. */
function memoryOf(net, examples) {
  let rows = examples.map(([at, y]) => embedded(net, [...onCircle(at), y, 0]));
  const memory = [];
  for (let i = 0; i < BLOCKS; i++) {
    const own = rows.map(row => ownOf(net, i, row));
    const part = name => own.map(row => linear(row, net[`${name} ${i}`], net[`${name} bias ${i}`]));
    memory.push({k: part("K"), v: part("V")});
    if (i < BLOCKS - 1) rows = rows.map((row, n) => afterBlock(net, i, row, own[n], memory[i]));
  }
  return memory;
}

const onCircle = degrees =>
  [Math.cos(degrees * Math.PI / 180), Math.sin(degrees * Math.PI / 180)];

/** The answer at a place, in units. */
function answerOf(net, memory, at) {
  let row = embedded(net, [...onCircle(at), 0, 1]);
  memory.forEach((seen, i) => { row = afterBlock(net, i, row, ownOf(net, i, row), seen); });
  return linear(normed(row, net.scale, net.shift), net.read, net["read bias"])[0];
}

/** How much the answer at a place moves with each label: a difference of two answers. */
function influenceOf(net, examples, at) {
  return examples.map((_, i) => {
    const [up, down] = [STEP, -STEP].map(step => answerOf(net,
      memoryOf(net, examples.map(([x, y], j) => [x, j === i ? y + step : y])), at));
    return (up - down) / (2 * STEP);
  });
}

Object.assign(X, {answerOf, influenceOf, memoryOf, unpacked});
})(globalThis.iclExplorers ??= {explorers: {}});
