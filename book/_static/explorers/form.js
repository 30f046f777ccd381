/* What stands around the pictures of an explorer, be it exact or a training: presets, the link to
   its settings, the list of its numbers. */
((X) => {
"use strict";
const {make, parsed, rich, show} = X;
const REST = 250;                                   // ms: changes of an address are rationed

/** Settings to start from: {nodes, mark(same)}; `choose(settings)` when one is pressed. */
function presetsOf(presets = [], choose) {
  const made = presets.map(preset => ({preset, button: make("button",
    {type: "button", class: "x-preset", "aria-pressed": "false"}, ...rich(preset.name))}));
  for (const {preset, button} of made) {
    button.addEventListener("click", () => choose(preset.settings));
  }
  const group = {class: "x-presets", role: "group", "aria-label": "Settings to start from"};
  const mark = same => made.forEach(({preset, button}) =>
    button.setAttribute("aria-pressed", String(same(preset.settings))));
  return {nodes: made.length ? [make("div", group, ...made.map(each => each.button))] : [], mark};
}

/**
 * The page's address as a link to `settings()`, and the button that copies it: {nodes, later(),
 * forget(), tell(unknown)}.
 */
function linkOf(name, settings) {
  const look = {type: "button", class: "x-reset x-copy"};
  const copy = make("button", look, "Copy a link to these settings");
  const said = make("span", {class: "x-copied", role: "status"});
  let writing = 0;
  function write() {
    clearTimeout(writing);
    history.replaceState(null, "", `#explorer-${name}?${new URLSearchParams(settings())}`);
  }
  function later() {
    said.replaceChildren();
    clearTimeout(writing);
    writing = setTimeout(write, REST);
  }
  function forget() {
    clearTimeout(writing);
    history.replaceState(null, "", location.pathname + location.search);
  }
  function tell(unknown) {
    const lost = `The link's ${unknown.join(", ")} cannot be shown here; this is the usual value.`;
    said.textContent = unknown.length ? lost : "";
  }
  copy.addEventListener("click", async () => {
    write();
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = "Copied.";
    } catch {                                       // no clipboard: the link, to copy by hand
      const text = {type: "text", readonly: "", value: location.href};
      const input = make("input", {...text, "aria-label": "link to these settings"});
      said.replaceChildren(input);
      input.select();
      input.focus();
    }
  });
  return {nodes: [copy, said], later, forget, tell};
}

/** Settings that a link's query names, and in words those that it names wrongly. */
function named(controls, query) {
  const settings = {};
  const unknown = [];
  for (const control of controls) {
    const text = query.get(control.key);
    const value = parsed(control, text);
    if (value !== null) settings[control.key] = value;
    else if (text) unknown.push(`${control.key} = ${text}`);
  }
  return {settings, unknown};
}

/** The settings that the page itself asks for, and the controls' own for the others. */
const startOf = (controls, root) => ({
  ...Object.fromEntries(controls.map(control => [control.key, control.start])),
  ...named(controls, new URLSearchParams(root.dataset.settings || "")).settings,
});

/** The list of numbers: {node, put(rows)} with rows of [key, label, value, format?]. */
function numbersOf(format = show) {
  const node = make("dl", {class: "x-numbers"});
  const shown = {};
  const put = rows => rows.forEach(([key, label, value, written = format]) => {
    if (!shown[key]) {
      shown[key] = make("data", {"data-key": key});
      const title = make("dt", {}, ...rich(label));
      node.append(make("div", {}, title, make("dd", {}, shown[key])));
    }
    shown[key].value = String(value);
    shown[key].textContent = written(value);
  });
  return {node, put};
}

/** Calls `act` when the width of `root` has changed. */
function onWidth(root, act) {
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    for (const panel of root.querySelectorAll(".x-plot")) panel.wide = undefined;
    act();
  }).observe(root);
}

Object.assign(X, {linkOf, named, numbersOf, onWidth, presetsOf, startOf});
})(globalThis.iclExplorers ??= {explorers: {}});
