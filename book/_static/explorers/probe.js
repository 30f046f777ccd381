/* Reading a plot's values, and pulling its marks: by pointer, and the reading by keyboard too. */
((X) => {
"use strict";
const {make, rich, show, words} = X;
const NEAR = 14;                                    // pixels from a mark within which it is taken
const NEAR_TOUCH = 26;

/** The height of a line at x, as it is drawn: of the nearest stick, between a curve's points. */
function heightAt({points, sticks}, x, {x: {log: logX}, y: {log: logY}}) {
  if (sticks) return points.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a)[1];
  const i = points.findIndex(([a]) => a >= x);
  if (i < 0) return NaN;
  if (points[i][0] === x || i === 0) return points[i][0] === x ? points[i][1] : NaN;
  const [[a, fa], [b, fb]] = [points[i - 1], points[i]];
  const share = logX ? Math.log(x / a) / Math.log(b / a) : (x - a) / (b - a);
  if (!(Number.isFinite(fa) && Number.isFinite(fb))) return NaN;
  return logY && fa > 0 && fb > 0 ? fa * (fb / fa) ** share : fa + (fb - fa) * share;
}

/** What stands at x, in words. */
function reading(view, x) {
  const found = view.lines.filter(line => line.name)
    .map(line => [line.name, heightAt(line, x, view)]).filter(([, y]) => !Number.isNaN(y));
  const values = found.map(([name, y]) => `${name} ${show(y, 3)}`).join(", ");
  return `${view.x.short || view.x.label} ${show(x, 3)}: ${values || "no curve here"}`;
}

function attach(panel) {
  const tip = make("div", {class: "x-tip", "aria-hidden": "true", hidden: ""});
  const guide = make("div", {class: "x-guide", hidden: ""});
  const handle = make("div", {class: "x-probe", role: "slider", tabindex: "0"});
  panel.append(guide, tip, handle);
  let pulled = null;

  function hide() {
    tip.hidden = true;
    guide.hidden = true;
  }
  function readAt(x) {
    const {view} = panel;
    const [low, high] = view.x.range;
    panel.at = Math.min(Math.max(x, low), high);
    const text = reading(view, panel.at);
    handle.setAttribute("aria-valuenow", String(Number(panel.at.toPrecision(6))));
    handle.setAttribute("aria-valuetext", words(text));
    return text;
  }
  function showAt(x) {
    const {view} = panel;
    const text = readAt(x);
    const px = view.placeX(panel.at);
    tip.replaceChildren(...rich(text));
    tip.hidden = false;
    guide.hidden = false;
    Object.assign(guide.style, {left: `${px}px`, top: `${view.box.top}px`,
      height: `${view.box.bottom - view.box.top}px`});
    const middle = (view.box.left + view.box.right) / 2;
    tip.style.left = px < middle ? `${Math.min(px + 10, middle)}px` : "auto";
    tip.style.right = px < middle ? "auto"
      : `${Math.min(panel.clientWidth - px + 10, panel.clientWidth - middle)}px`;
  }
  const place = event => event.clientX - panel.getBoundingClientRect().left;
  function markNear(event) {
    const reach = event.pointerType === "touch" ? NEAR_TOUCH : NEAR;
    const px = place(event);
    const able = panel.view.marks.filter(mark => mark.drag)
      .map(mark => ({mark, far: Math.abs(panel.view.placeX(mark.at) - px)}))
      .sort((a, b) => a.far - b.far)[0];
    return able && able.far <= reach ? able.mark : null;
  }
  function pull(event) {
    const [low, high] = panel.view.x.range;
    const x = Math.min(Math.max(panel.view.placeX.back(place(event)), low), high);
    const {drag} = pulled;
    panel.dispatchEvent(new CustomEvent("pulled",
      {detail: typeof drag === "function" ? drag(x) : {[drag]: x}}));
  }
  handle.addEventListener("pointerdown", event => {
    pulled = markNear(event);
    if (!pulled) return;
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    panel.dispatchEvent(new CustomEvent("grasped"));
    hide();
  });
  handle.addEventListener("pointermove", event => {
    if (pulled) {
      pull(event);
      return;
    }
    handle.style.cursor = markNear(event) ? "ew-resize" : "crosshair";
    showAt(panel.view.placeX.back(place(event)));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    handle.addEventListener(end, () => { pulled = null; });
  }
  handle.addEventListener("pointerleave", () => {
    if (document.activeElement !== handle) hide();
  });
  handle.addEventListener("blur", hide);
  handle.addEventListener("focus", () => {
    if (handle.matches(":focus-visible")) showAt(panel.at ?? middleOf(panel.view));
  });
  handle.addEventListener("keydown", event => {
    const steps = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10,
      PageDown: -10, Home: -1e9, End: 1e9}[event.key];
    if (!steps) return;
    event.preventDefault();
    const {box, placeX} = panel.view;
    const step = (box.right - box.left) / 100;
    const px = placeX(panel.at ?? middleOf(panel.view)) + steps * step;
    showAt(placeX.back(Math.min(Math.max(px, box.left), box.right)));
  });
  return {handle, hide, readAt, showAt, tip};
}

const middleOf = view => view.placeX.back((view.box.left + view.box.right) / 2);

/** Lay the probe over a plot that was just drawn. */
function probe(panel) {
  const parts = panel.probing ??= attach(panel);
  const {box, lines, x} = panel.view;
  const readable = lines.some(line => line.name);
  if (parts.box !== box) {                          // only the curves moved where it is the same
    parts.box = box;
    parts.handle.hidden = !readable;
    Object.assign(parts.handle.style, {left: `${box.left}px`, top: `${box.top}px`,
      width: `${box.right - box.left}px`, height: `${box.bottom - box.top + 12}px`});
    parts.handle.setAttribute("aria-label", `Read values: ${panel.dataset.name}`);
    parts.handle.setAttribute("aria-valuemin", String(x.range[0]));
    parts.handle.setAttribute("aria-valuemax", String(x.range[1]));
  }
  if (!readable) return;
  if (parts.tip.hidden) parts.readAt(panel.at ?? middleOf(panel.view));
  else parts.showAt(panel.at);
}

Object.assign(X, {probe});
})(globalThis.iclExplorers ??= {explorers: {}});
