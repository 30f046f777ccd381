/* A drawing in a panel: axes, lines, marks, bands, dots; and axes that stay where they are. */
((X) => {
"use strict";
const {draw, minus, power, rich} = X;
const LEFT = 60;                                    // the ticks, and the axis's name beside them
const RIGHT = 14;
const BOTTOM = 44;
let serial = 0;

/** The ticks of a logarithmic axis: [value, text]. */
function decadeTicks([low, high], room) {
  const from = Math.ceil(Math.log10(low) - 1e-9);
  const to = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((to - from) / Math.max(2, room)));
  const ticks = [];
  for (let e = from; e <= to; e += step) {
    const simple = e >= -2 && e <= 3;
    ticks.push([10 ** e, simple ? String(Number((10 ** e).toPrecision(1))) : power(e)]);
  }
  if (ticks.length >= 3) return ticks;
  for (let e = from - 1; e <= to; e++) {
    for (const m of [2, 5]) {
      const v = m * 10 ** e;
      if (v >= low && v <= high) ticks.push([v, String(Number(v.toPrecision(1)))]);
    }
  }
  return ticks;
}

/** The ticks of an axis: [value, text]; `room` is how many there may be. */
function ticksOf({range, log, ticks: given}, room) {
  if (given) return given.map(v => [v, minus(String(v))]);
  if (log) return decadeTicks(range, room);
  const [low, high] = range;
  const rough = (high - low) / Math.max(2, room);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * unit).find(s => s >= rough);
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) {
    ticks.push([v, minus(String(Number(v.toPrecision(6))))]);
  }
  return ticks;
}

/** An axis as a map from values to places between `from` and `to`, and back. */
function scale({range: [low, high], log}, from, to) {
  const ends = log ? [Math.log(low), Math.log(high)] : [low, high];
  const place = value =>
    from + (to - from) * ((log ? Math.log(value) : value) - ends[0]) / (ends[1] - ends[0]);
  place.back = at => {
    const value = ends[0] + (ends[1] - ends[0]) * (at - from) / (to - from);
    return log ? Math.exp(value) : value;
  };
  return place;
}

/** A panel's width, which is asked for only when it may have changed: asking costs a layout. */
const widthOf = panel => Math.max(240, Math.floor(panel.wide ??= panel.clientWidth));

/** Places `gap` apart or more, in their order and as near as can be to where they are wanted. */
function apart(wanted, gap) {
  const pools = [];                                 // neighbours too close to one another: a mean
  wanted.forEach((at, i) => {
    const pool = {sum: at - gap * i, count: 1};
    while (pools.length && pools.at(-1).sum / pools.at(-1).count > pool.sum / pool.count) {
      const last = pools.pop();
      pool.sum += last.sum;
      pool.count += last.count;
    }
    pools.push(pool);
  });
  return pools.flatMap(({sum, count}) => Array(count).fill(sum / count))
    .map((at, i) => at + gap * i);
}

/** The bands behind everything, with their names above; from [{from, to, text}]. */
function drawBands(svg, bands, place, {left, right, top, bottom}, range) {
  const [inside, names] = svg.querySelectorAll(".x-bands");
  inside.replaceChildren();
  names.replaceChildren();
  const seen = bands.map((band, i) => ({i, text: band.text,
    from: Math.max(place(Math.max(band.from, range[0])), left),
    to: Math.min(place(band.to), right)})).filter(band => band.to > band.from);
  const middles = apart(seen.map(band => (band.from + band.to) / 2), 17);
  seen.forEach(({i, from, to, text}, n) => {
    const look = {class: `x-band x-band-${i % 2}`};
    inside.append(draw("rect", {x: from, y: top, width: to - from, height: bottom - top, ...look}));
    names.append(draw("text", {x: middles[n], y: top - 8, "text-anchor": "middle"}, text));
  });
}

/** The `d` of a curve, of sticks on zero or of points; a value that is no number lifts the pen. */
function pathOf({points, scatter, sticks, aside = 0}, X, Y, log) {
  let d = "";
  let pen = false;
  for (const [a, b] of points) {
    if (!Number.isFinite(b) || (log && b <= 0)) {
      pen = false;
      continue;
    }
    const px = (X(a) + aside).toFixed(1);
    const py = Math.min(Math.max(Y(b), -1e4), 1e4).toFixed(1);
    if (scatter) d += `M${px} ${py}h0`;
    else d += sticks ? `M${px} ${Y(0).toFixed(1)}V${py}` : `${pen ? "L" : "M"}${px} ${py}`;
    pen = true;
  }
  return d;
}

/** Say at a curve's last point why it ends there: to its right or, without room, off the curve. */
function drawEnd(svg, {points, ends}, X, Y, box) {
  const good = points.filter(([, b]) => Number.isFinite(b) && b > 0);
  if (!good.length || good.length === points.length) return;
  const [x, y] = [X(good.at(-1)[0]), Y(good.at(-1)[1])];
  if (x > box.right) return;                        // the end is not seen
  const last = box.right + RIGHT - 5.3 * ends.length;   // where letters of 12 px still fit
  const rises = good.length > 1 && Y(good.at(-2)[1]) > y;
  const beside = x + 8 <= last ? 4 : rises ? -8 : 16;
  const text = {x: Math.min(x + 8, last),
    y: Math.min(Math.max(y + beside, box.top + 12), box.bottom - 4)};
  svg.append(draw("text", {...text, class: "x-why"}, ...rich(ends, true)));
}

/**
 * A drawing in a panel, an element of the page.
 *
 * x, y: {label, range, log, ticks, hidden, indented}, where an `indented` axis that is hidden keeps
 * its room; `lines` [{points, kind, name, sticks, aside, scatter,
 * ends}], where a name makes the line's values readable by pointer and keyboard, sticks may stand
 * some pixels `aside` of their places, and `ends` says why it stops; `marks` (upright lines) [{at, text, kind, drag}], where `drag` is the setting that a pull
 * at the mark moves, or a function from the place to {setting: value}; `bands` [{from, to, text}];
 * `dots` [{at: [x, y], kind}]; `label` is spoken.
 */
function plot(panel, options) {
  const {x, y, lines = [], marks = [], bands = [], dots = [], label} = options;
  const width = widthOf(panel);
  const height = Number(panel.dataset.height || 260);
  const headed = bands.length || marks.some(mark => mark.text);
  const box = {left: y.hidden && !y.indented ? RIGHT : LEFT, right: width - RIGHT,
    top: headed ? 24 : 10, bottom: height - BOTTOM};
  const {left, right, top, bottom} = box;
  const placeX = scale(x, left, right);
  const placeY = scale(y, bottom, top);
  const clip = `explorer-clip-${serial++}`;
  const frame = {x: left, y: top, width: right - left, height: bottom - top};
  const svg = draw("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": label}, draw("defs", {}, draw("clipPath", {id: clip}, draw("rect", frame))));
  const inside = draw("g", {"clip-path": `url(#${clip})`}, draw("g", {class: "x-bands"}));
  for (const [value, text] of ticksOf(x, (width - left) / 80)) {
    const at = placeX(value);
    const wide = 4 * text.length > width - at;      // half its width, more than there is room
    const where = wide ? {x: width, "text-anchor": "end"} : {x: at, "text-anchor": "middle"};
    svg.append(draw("line", {x1: at, x2: at, y1: top, y2: bottom, class: "x-grid"}),
      draw("text", {y: bottom + 16, ...where}, text));
  }
  for (const [value, text] of y.hidden ? [] : ticksOf(y, (height - top) / 45)) {
    const at = placeY(value);
    svg.append(draw("line", {y1: at, y2: at, x1: left, x2: right, class: "x-grid"}),
      draw("text", {x: left - 6, y: at + 4, "text-anchor": "end"}, text));
  }
  const title = {x: (left + right) / 2, y: height - 8, "text-anchor": "middle"};
  svg.append(draw("path", {d: `M${left} ${top}V${bottom}H${right}`, class: "x-axis"}),
    draw("text", title, ...rich(x.label, true)), inside, draw("g", {class: "x-bands"}));
  if (y.label) {
    const upright = `translate(13 ${(top + bottom) / 2}) rotate(-90)`;
    svg.append(draw("text", {"text-anchor": "middle", transform: upright}, ...rich(y.label, true)));
  }
  drawBands(svg, bands, placeX, box, x.range);
  for (const {at, text, kind = "exact", drag} of marks) {
    if (!(at >= x.range[0] && at <= x.range[1])) continue;
    const px = placeX(at);
    const pulled = drag ? " x-pulled" : "";
    const look = {class: `x-mark x-${kind}${pulled}`};
    inside.append(draw("line", {x1: px, x2: px, y1: top, y2: bottom, ...look}));
    if (drag) svg.append(draw("path", {d: `M${px} ${bottom}l-6 9h12z`, class: "x-handle"}));
    const anchor = px < left + 40 ? "start" : px > right - 40 ? "end" : "middle";
    const where = {x: px, y: top - 8, "text-anchor": anchor};
    if (text) svg.append(draw("text", where, ...rich(text, true)));
  }
  for (const line of lines) {
    const shape = line.scatter ? "x-scatter" : line.sticks ? "x-stick" : "x-line";
    const look = `${shape} x-${line.kind}`;
    const d = pathOf(line, placeX, placeY, y.log);
    inside.append(draw("path", {d, class: look, "data-name": line.name || ""}));
    if (line.ends) drawEnd(svg, line, placeX, placeY, box);
  }
  for (const {at: [a, b], kind} of dots) {          // not cut at the frame's edge
    const seen = a >= x.range[0] && a <= x.range[1] && b >= y.range[0] && b <= y.range[1];
    const place = {cx: placeX(a), cy: placeY(b), r: kind === "recorded" ? 3.5 : 5};
    if (Number.isFinite(b) && seen) svg.append(draw("circle", {...place, class: `x-dot x-${kind}`}));
  }
  panel.querySelector("svg")?.remove();
  panel.prepend(svg);
  panel.view = {...options, box, lines, marks, placeX, placeY};
  X.probe?.(panel);
}

/** Whole decades around the positive values, at most `most` of them, counted from the top. */
function decades(values, most = 8) {
  const good = values.filter(v => v > 0 && Number.isFinite(v));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...good)) - 1e-9);
  const low = 10 ** Math.floor(Math.log10(Math.min(...good)) + 1e-9);
  return [Math.max(low, high / 10 ** most), Math.max(high, low * 10)];
}

/**
 * A logarithmic range that stays while the settings move: `span` decades down from the one above
 * `high`, moved only where `low` (what has to be seen) or `high` would leave it.
 */
function steady(panel, low, high, span) {
  const held = panel.held;
  const fits = held && held[0] <= low && held[1] >= high && high > held[1] / 1e3;
  if (!fits) {
    const top = Math.ceil(Math.log10(high) - 1e-9);
    const bottom = Math.min(top - span, Math.floor(Math.log10(low) + 1e-9));
    panel.held = [10 ** bottom, 10 ** top];
  }
  return panel.held;
}

Object.assign(X, {decades, drawBands, pathOf, plot, steady, widthOf});
})(globalThis.iclExplorers ??= {explorers: {}});
