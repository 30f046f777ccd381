/* An explorer on its page: panels, one sentence, controls, presets, numbers, and its link. */
((X) => {
"use strict";
const {assemble, draw, field, linkOf, make, named, numbersOf, onWidth, presetsOf, rich, startOf,
  within} = X;
const LATE = 1000;                                  // ms after which a sentence is too old
const REST = 600;                                   // ms without a move: the settings are at rest

function legendOf(entries) {
  const key = {width: 28, height: 10, "aria-hidden": "true"};
  return make("ul", {class: "x-legend"}, ...entries.map(([text, kind, dot]) => {
    const sign = dot ? draw("circle", {cx: 14, cy: 5, r: 4.5, class: `x-dot x-${kind}`})
      : draw("path", {d: "M1 5H27", class: `x-line x-${kind}`});
    return make("li", {"data-kind": kind}, draw("svg", key, sign), make("span", {}, ...rich(text)));
  }));
}

function panelOf(panel, name) {
  const text = X.words(panel.name);
  const height = panel.height || 260;
  const frame = make("div", {class: "x-plot", "data-height": height, style: `--height: ${height}px`,
    "data-name": text, "data-panel": name});
  const caption = make("figcaption", {}, ...rich(panel.name));
  const node = make("figure", {class: "x-panel"}, caption, frame, legendOf(panel.legend));
  return {frame, node, folded: Boolean(panel.folded)};
}

/**
 * Build the explorer that `root` names; returns [name, {restore(query), steer(query), stage}].
 *
 * A spec is {title, presets, controls, panels, compute(state) → {rows, summary, fine, …},
 * draw(frames, state, result, before)}, where `before` is {state, result} at the last rest or null,
 * and `begin({root, state, move(settings), taken(act), plays(on)})` where something runs by itself:
 * `move` leaves the address alone, `act` is called when the reader takes a control, and while it
 * `plays` the sentence goes with the picture, to be read aloud when it stops. A `folded` panel
 * stands under "more"; a `small` explorer has nothing there.
 */
function build(root) {
  const name = root.dataset.explorer;
  const spec = X.explorers[name];
  const start = startOf(spec.controls, root);
  const state = {...start};
  let before = null;                                // what was drawn when the settings last rested
  let moving = false;
  let playing = false;
  let queued = 0;
  let speaking = 0, spoken = 0;
  let resting = 0;
  let result;

  const fields = spec.controls.map(control => field(control, `explorer-${name}-${control.key}`));
  const byKey = Object.fromEntries(fields.map(f => [f.control.key, f]));
  const presets = presetsOf(spec, settings => set(settings));
  const link = linkOf(name, () => state);
  const reset = make("button", {type: "reset", class: "x-reset"}, "Reset");
  const panels = spec.panels.map((panel, i) => panelOf(panel, String(i)));
  const list = numbersOf();
  const said = make("output", {class: "x-summary"});
  const rest = spec.small ? null : [make("div", {class: "x-buttons"}, reset, ...link.nodes)];
  const parts = {title: spec.title, panels, said, player: [], fields, presets, rest, list};
  const {form, stage} = assemble(root, parts);

  const redraw = () => spec.draw(panels.map(p => p.frame), state, result, before);

  function speak() {
    said.replaceChildren(...rich(result.summary));
    spoken = performance.now();
  }
  function refresh() {
    queued = 0;
    result = spec.compute(state);
    list.put(result);
    presets.mark(state);
    root.toggleAttribute("data-moved", before !== null);
    redraw();
    clearTimeout(speaking);                         // one sentence, when the slider rests
    const late = performance.now() - spoken > LATE; // it does not while it is dragged about
    if (playing || !said.childNodes.length) speak(); // the first belongs to what is drawn
    else speaking = setTimeout(speak, late ? 0 : 300);
    root.dataset.drawn = String(Number(root.dataset.drawn || 0) + 1);
  }
  function later() {
    if (!queued) queued = requestAnimationFrame(refresh);
  }
  /** The first move after a rest: what stands now becomes the shadow behind what comes. */
  function grasp() {
    if (!moving && result) before = {state: {...state}, result};
    moving = true;
    clearTimeout(resting);
    resting = setTimeout(() => { moving = false; }, REST);
  }
  /** Change settings, as a control, a preset or a pull does. */
  function set(settings) {
    grasp();
    move(settings);
    if (!spec.small) link.later();
  }
  /** Change settings without a trace: what runs by itself does not write the address. */
  function move(settings) {
    for (const [key, value] of Object.entries(settings)) {
      state[key] = value;
      byKey[key].put(value);
    }
    later();
  }
  /** Something begins to run by itself, or stops. */
  function plays(on) {
    if (playing === on) return;
    playing = on;
    said.setAttribute("aria-live", on ? "off" : "polite");
    later();
  }
  /** Settings that a link names; what it names wrongly starts as ever, and that is said. */
  function restore(query) {
    const {settings, unknown} = named(spec.controls, query);
    for (const {control, put} of fields) {
      state[control.key] = settings[control.key] ?? start[control.key];
      put(state[control.key]);
    }
    before = null;
    link.tell(unknown);
    later();
  }

  /** What a sentence of the page asks for: the page's own settings but for those that it names. */
  const steer = query => set({...start, ...named(spec.controls, query).settings});

  for (const f of fields) {
    f.input.addEventListener("input", () => set({[f.control.key]: f.read()}));
  }
  for (const {frame} of panels) {
    frame.addEventListener("grasped", grasp);
    frame.addEventListener("pulled", event => set(Object.fromEntries(Object.entries(event.detail)
      .map(([key, value]) => [key, within(byKey[key].control, value)]))));
  }
  form.addEventListener("reset", event => {
    event.preventDefault();
    restore(new URLSearchParams());
    link.forget();
  });
  fields.forEach(f => f.put(state[f.control.key]));
  refresh();
  onWidth(root, redraw);
  const taken = act => fields.forEach(f => f.input.addEventListener("input", act));
  spec.begin?.({root, state, move, taken, plays});
  return [name, {restore, stage, steer}];
}

Object.assign(X, {build, panelOf});
})(globalThis.iclExplorers ??= {explorers: {}});
