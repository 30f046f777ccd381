/* A training on its page: settings, player, panels, one sentence and numbers.
   A training is {title, model, unit, counted, speeds, end, controls, panels, view(panels, moment)}
   and may have `derive(settings)`, settings that follow from those on the page. */
(X => {
  "use strict";
  const {field, make, panelOf, parsed, rich, show} = X;
  const SPOKEN = 5000; // milliseconds between two sentences while it plays
  const REST = 400; // milliseconds after which the address names the settings
  const NARROW = 600; // pixels of a page that has no room beside the pictures
  const LARGEST = 999999; // seed

  /** The list of numbers: {node, show(rows)} with rows of [key, label, value]. */
  function numbers() {
    const node = make("dl", {class: "x-numbers"});
    const shown = {};
    const put = ([key, label, value]) => {
      if (!shown[key]) {
        shown[key] = make("data", {"data-key": key});
        const term = make("dt", {}, ...rich(label));
        node.append(make("div", {}, term, make("dd", {}, shown[key])));
      }
      const text = Number.isInteger(value) ? String(value) : show(value);
      shown[key].value = String(value);
      shown[key].textContent = Number.isNaN(value) ? "none" : text;
    };
    return {node, show: rows => rows.forEach(put)};
  }

  /** Puts a training on the page; answers as X.build does. */
  X.train = root => {
    const name = root.dataset.explorer;
    const spec = X.explorers[name];
    const state = {};
    const form = make("form", {class: "x-controls", "aria-label": `Settings: ${spec.title}`});
    form.addEventListener("submit", event => event.preventDefault());
    const fields = spec.controls.map(control => field(control, `explorer-${name}-${control.key}`));
    const put = ({control, put}, value) => {
      state[control.key] = value;
      put(value);
    };
    const seed = make("input", {id: `explorer-${name}-seed`, type: "number", autocomplete: "off"});
    for (const [key, value] of Object.entries({min: 0, max: LARGEST, step: 1})) seed[key] = value;
    const label = make("label", {for: seed.id}, "seed");
    form.append(...fields.map(f => f.node), make("div", {class: "x-field"}, label, seed));

    const panels = spec.panels.map((panel, i) =>
      panelOf({height: 220, legend: [], ...panel}, String(i)),
    );
    const said = make("output", {class: "x-summary"});
    const list = numbers();
    let spoken = 0;
    let frames = 0;
    const player = X.makePlayer({
      name,
      spec,
      settings: () => ({...state, ...(spec.derive ? spec.derive(state) : {})}),
      seed: () => Number(seed.value),
      reset: () => fill(new URLSearchParams(root.dataset.settings || "")),
      show: moment => {
        const {rows, summary} = spec.view(
          panels.map(p => p.frame),
          moment,
        );
        list.show(rows);
        const now = performance.now();
        if (!player.playing() || now - spoken > SPOKEN) {
          spoken = now;
          said.replaceChildren(...rich(summary));
        }
        root.toggleAttribute("data-moved", Boolean(moment.run.ghost)); // its legend names it
        root.dataset.step = String(moment.step);
        root.dataset.drawn = String(++frames);
      },
    });
    /** The address names the settings once they have come to rest. */
    const nameIt = () => {
      const query = new URLSearchParams({...state, seed: seed.value});
      history.replaceState(null, "", `#explorer-${name}?${query}`);
    };
    let writing = 0;
    const moved = key => {
      player.change(key);
      clearTimeout(writing);
      writing = setTimeout(nameIt, REST);
    };
    fields.forEach(f =>
      f.input.addEventListener("input", () => {
        put(f, f.read());
        moved(f.control.key);
      }),
    );
    seed.addEventListener("change", () => {
      const whole = Math.floor(Number(seed.value)) || 0;
      seed.value = String(Math.min(LARGEST, Math.max(0, whole)));
      moved("seed");
    });
    const pairs = panels.length > 1 ? "x-panels x-pairs" : "x-panels";
    const pictures = make("div", {class: pairs}, ...panels.map(p => p.node));
    root.classList.add("x-training");
    root.append(player.node, form, pictures, said, list.node);
    // on a phone the first pictures stand between the player and the settings: both are in sight
    if (window.innerWidth < NARROW) panels[Math.min(1, panels.length - 1)].node.after(form);

    /** Settings and seed that a link or the page names; the others as ever. */
    const fill = query => {
      for (const f of fields) {
        put(f, parsed(f.control, query.get(f.control.key)) ?? f.control.start);
      }
      seed.value = /^\d{1,6}$/.test(query.get("seed") || "") ? query.get("seed") : "0";
    };
    const restore = query => {
      fill(query);
      player.restart();
    };
    restore(new URLSearchParams(root.dataset.settings || ""));
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth === width) return;
      width = root.clientWidth;
      player.later();
    }).observe(root);
    return [name, restore];
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
