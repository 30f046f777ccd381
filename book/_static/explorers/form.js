/* What stands around the pictures of an explorer, be it exact or a training: presets, the link to
   its settings, the list of its numbers, and how they are put together. */
((X) => {
"use strict";
const {make, parsed, rich, show} = X;
const REST = 250;                                   // ms: changes of an address are rationed

const CHIPS = 3;                                    // presets in sight, as a rule; the others fold

/** The controls' own settings. */
const usual = controls => Object.fromEntries(controls.map(control => [control.key, control.start]));

/**
 * Settings to start from, as chips: {first, others, mark(state)}; `choose(settings)` when one is
 * pressed. A chip stands for all settings but those of controls that are `aside`, which it leaves
 * as they are, so that at most one is pressed.
 */
function presetsOf({presets = [], controls, chips = CHIPS}, choose) {
  const own = usual(controls.filter(control => !control.aside));
  const made = presets.map(preset => ({settings: {...own, ...preset.settings},
    button: make("button", {type: "button", class: "x-preset"}, ...rich(preset.name))}));
  for (const {settings, button} of made) {
    button.addEventListener("click", () => choose(settings));
  }
  const group = list => list.length ? [make("div", {class: "x-presets", role: "group",
    "aria-label": "Settings to start from"}, ...list.map(each => each.button))] : [];
  const mark = state => {
    const agrees = ({settings}) => Object.entries(settings).every(([key, v]) => state[key] === v);
    const pressed = made.find(agrees);
    made.forEach(each => each.button.setAttribute("aria-pressed", String(each === pressed)));
  };
  return {first: group(made.slice(0, chips)), others: group(made.slice(chips)), mark};
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
    const lost = `The link’s ${unknown.join(", ")} cannot be shown here; this is the usual value.`;
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
const startOf = (controls, root) => ({...usual(controls),
  ...named(controls, new URLSearchParams(root.dataset.settings || "")).settings});

/**
 * The numbers: {node, put({rows, fine})} with rows of [key, label, value, format?] and `fine`, what
 * has to be known of how they were found.
 */
function numbersOf(format = show) {
  const list = make("dl", {class: "x-numbers"});
  const found = make("p", {class: "x-fine"});
  const node = make("div", {}, found, list);
  const shown = {};
  const put = ({rows, fine = ""}) => {
    found.replaceChildren(...rich(fine));
    for (const [key, label, value, written = format] of rows) {
      if (!shown[key]) {
        shown[key] = make("data", {"data-key": key});
        const title = make("dt", {}, ...rich(label));
        list.append(make("div", {}, title, make("dd", {}, shown[key])));
      }
      shown[key].value = String(value);
      shown[key].textContent = written(value);
    }
  };
  return {node, put};
}

/**
 * Put an explorer together: its picture, the line of result under it, what is turned most, and
 * under "more" all else; without a `rest` there is no "more". Returns {form, stage}; the stage is
 * what has to be in sight.
 */
function assemble(root, {title, panels, said, player, fields, presets, rest, list}) {
  const first = root.dataset.main ?? fields[0].control.key;
  const main = rest ? fields.filter(f => f.control.key === first) : fields;
  const others = fields.filter(f => !main.includes(f));
  const grid = folded => {
    const nodes = panels.filter(panel => panel.folded === folded).map(panel => panel.node);
    const look = nodes.length > 1 ? "x-panels x-pairs" : "x-panels";
    return nodes.length ? [make("div", {class: look}, ...nodes)] : [];
  };
  const stage = make("div", {class: "x-stage"}, ...grid(false), said, ...player);
  const form = make("form", {class: "x-controls", "aria-label": `Settings: ${title}`},
    ...main.map(f => f.node), ...presets.first);
  if (rest) {
    form.append(make("details", {class: "x-more"}, make("summary", {}, "more"), ...grid(true),
      ...presets.others, make("div", {class: "x-fields"}, ...others.map(f => f.node), ...rest),
      list.node));
  }
  form.addEventListener("submit", event => event.preventDefault());
  root.append(stage, form);
  return {form, stage};
}

/** Calls `act` when the width of a panel has changed, as when it is unfolded. */
function onWidth(root, act) {
  const seen = new ResizeObserver(entries => {
    const moved = entries.map(e => e.target).filter(panel => panel.clientWidth !== panel.wide);
    for (const panel of moved) panel.wide = undefined;
    if (moved.length) act();
  });
  root.querySelectorAll(".x-plot").forEach(panel => seen.observe(panel));
}

/** Unfold a node, and scroll as little as it takes to have it in sight: not at all where it is. */
function reveal(node) {
  for (let at = node.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  node.scrollIntoView({block: "nearest"});
}

Object.assign(X, {assemble, linkOf, named, numbersOf, onWidth, presetsOf, reveal, startOf});
})(globalThis.iclExplorers ??= {explorers: {}});
