/* A training on its page: player, presets, settings, panels, one sentence, numbers, and its link.
   A training is {title, model, unit, counted, speeds, end, presets, controls, panels,
   view(panels, moment)} and may have `derive(settings)`, settings that follow from those on the
   page; `end`, the last step, may be a function of the run's events, its settings by step. */
(X => {
  "use strict";
  const {field, linkOf, make, named, numbersOf, onWidth, panelOf, presetsOf, startOf} = X;
  const SPOKEN = 5000; // milliseconds between two sentences while it plays
  const NARROW = 600; // pixels of a page that has no room beside the pictures
  const SEED = {key: "seed", values: [0, 999999], whole: true, start: 0};

  /** A number of a run: counts in full. */
  const written = value => (Number.isInteger(value) ? String(value) : X.show(value));

  /** Puts a training on the page; answers as X.build does. */
  X.train = root => {
    const name = root.dataset.explorer;
    const spec = X.explorers[name];
    const start = startOf([...spec.controls, SEED], root);
    const state = {...start};
    const form = make("form", {class: "x-controls", "aria-label": `Settings: ${spec.title}`});
    form.addEventListener("submit", event => event.preventDefault());
    const fields = spec.controls.map(control => field(control, `explorer-${name}-${control.key}`));
    const seed = make("input", {id: `explorer-${name}-seed`, type: "number", autocomplete: "off"});
    [seed.min, seed.max] = SEED.values;
    const label = make("label", {for: seed.id}, "seed");
    const presets = presetsOf(spec.presets, settings => {
      put({...start, seed: state.seed, ...settings});
      moved("seed"); // from the start, or what refills again
    });
    const link = linkOf(name, () => state);
    form.append(
      ...presets.nodes,
      ...fields.map(f => f.node),
      make("div", {class: "x-field"}, label, seed),
      make("div", {class: "x-buttons"}, ...link.nodes),
    );
    const same = settings =>
      Object.entries({...start, ...settings}).every(
        ([key, value]) => key === SEED.key || state[key] === value,
      );
    /** The settings from here on, as state and on the page. */
    const put = settings => {
      Object.assign(state, settings);
      fields.forEach(f => f.put(state[f.control.key]));
      seed.value = String(state.seed);
      presets.mark(same);
    };

    const panels = spec.panels.map((panel, i) =>
      panelOf({height: 220, legend: [], ...panel}, String(i)),
    );
    const said = make("output", {class: "x-summary"});
    const list = numbersOf(written);
    let spoken = 0;
    let frames = 0;
    const player = X.makePlayer({
      name,
      spec,
      settings: () => {
        const {seed: drawn, ...settings} = state;
        return {...settings, ...(spec.derive ? spec.derive(state) : {})};
      },
      seed: () => state.seed,
      reset: () => {
        put(start);
        link.forget();
        link.tell([]);
      },
      show: moment => {
        const {rows, summary} = spec.view(
          panels.map(p => p.frame),
          moment,
        );
        list.put(rows);
        const now = performance.now();
        if (!player.playing() || now - spoken > SPOKEN) {
          spoken = now;
          said.replaceChildren(...X.rich(summary));
        }
        root.toggleAttribute("data-moved", Boolean(moment.run.ghost)); // its legend names it
        root.dataset.step = String(moment.step);
        root.dataset.drawn = String(++frames);
      },
    });
    const moved = key => {
      player.change(key);
      link.later();
    };
    for (const f of fields) {
      f.input.addEventListener("input", () => {
        put({[f.control.key]: f.read()});
        moved(f.control.key);
      });
    }
    seed.addEventListener("change", () => {
      const [least, most] = SEED.values;
      const whole = Math.floor(Number(seed.value)) || 0;
      put({seed: Math.min(most, Math.max(least, whole))});
      moved("seed");
    });
    const pairs = panels.length > 1 ? "x-panels x-pairs" : "x-panels";
    const pictures = make("div", {class: pairs}, ...panels.map(p => p.node));
    root.classList.add("x-training");
    root.append(player.node, form, pictures, said, list.node);
    // on a phone the first pictures stand between the player and the settings: both are in sight
    if (window.innerWidth < NARROW) panels[Math.min(1, panels.length - 1)].node.after(form);

    /** Settings that a link names; what it names wrongly starts as ever, and that is said. */
    const restore = query => {
      const {settings, unknown} = named([...spec.controls, SEED], query);
      put({...start, ...settings});
      link.tell(unknown);
      player.restart();
    };
    put(start);
    player.restart();
    onWidth(root, player.later);
    return [name, restore];
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
