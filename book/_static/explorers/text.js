/* Words and numbers as a person writes them, and the nodes of a page and of a drawing. */
((X) => {
"use strict";

const SUPER = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸",
  9: "⁹"};
const power = e => "10" + String(e).split("").map(c => SUPER[c]).join("");
const minus = text => text.replace("-", "−");

/** A number to `digits` significant digits. */
function show(x, digits = 4) {
  if (Number.isNaN(x)) return "none";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const e = Number(exponent);
  if (e < -3 || e > 5) return `${minus(mantissa)}\u00a0×\u00a0${power(e)}`;
  if (e >= digits) return minus(String(Math.round(x)));
  return minus(Number(x.toPrecision(digits)).toFixed(Math.max(0, digits - 1 - e)));
}

/** A setting: three digits, without zeros that say nothing. */
function plain(x) {
  if (x === Infinity) return "∞";
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x);
  const short = Number(x.toPrecision(3));
  if (Math.abs(x) >= 1e-3 || x === 0) return String(short);
  const [mantissa, exponent] = short.toExponential().split("e");
  const tens = power(Number(exponent));
  return mantissa === "1" ? tens : `${mantissa}\u00a0×\u00a0${tens}`;
}

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** An element of the page. */
const make = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** An element of a drawing. */
const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

/** "~w~^{*}" and "e_{ICL}": italic, raised, lowered; as nodes of a page or of a drawing. */
function rich(text, svg = false) {
  const parts = text.split(/(~[^~]+~|_\{[^}]+\}|\^\{[^}]+\})/).filter(Boolean);
  return parts.flatMap(part => {
    const inner = part.replace(/^(~|_\{|\^\{)|(~|\})$/g, "");
    if (part[0] === "~") {
      return svg ? draw("tspan", {"font-style": "italic"}, inner) : make("i", {}, inner);
    }
    if (!/^[_^]\{/.test(part)) return part;
    if (!svg) return make(part[0] === "_" ? "sub" : "sup", {}, inner);
    const dy = part[0] === "_" ? 3 : -5;
    const shifted = draw("tspan", {dy, "font-size": "0.78em"}, inner);
    return [shifted, draw("tspan", {dy: -dy}, "\u200b")];
  });
}

/** The same without its marks, for labels that are spoken. */
const words = text => text.replace(/[~_^{}]/g, "");

Object.assign(X, {draw, make, minus, plain, power, rich, show, words});
})(globalThis.iclExplorers ??= {explorers: {}});
