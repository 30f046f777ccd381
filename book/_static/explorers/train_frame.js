/* A training on its page: panels, one sentence, player, settings, presets, numbers, and its link.
   A training is {title, model, unit, counted, speeds, end, presets, controls, panels,
   view(panels, moment)} and may have `derive(settings)`, settings that follow from those on the
   page; `end`, the last step, may be a function of the run's events, its settings by step. */
(X => {
  "use strict";
  const {assemble, field, linkOf, make, named, numbersOf, onWidth, panelOf, presetsOf} = X;
  const {reveal, startOf} = X;
  const SEED = {key: "seed", values: [0, 999999], whole: true, start: 0};

  /** A number of a run: counts in full. */
  const written = value => (Number.isInteger(value) ? String(value) : X.show(value));

  /** Puts a training on the page; answers as X.build does. */
  X.train = root => {
    const name = root.dataset.explorer;
    const spec = X.explorers[name];
    const all = [...spec.controls, SEED];
    const {fixed} = X.training.N.models[spec.model];
    const start = startOf(all, root);
    const state = {...start};
    const fields = spec.controls.map(control => field(control, `explorer-${name}-${control.key}`));
    const seed = make("input", {id: `explorer-${name}-seed`, type: "number", autocomplete: "off"});
    [seed.min, seed.max] = SEED.values;
    const label = make("label", {for: seed.id}, "seed");
    const presets = presetsOf(spec, settings => {
      put(settings);
      moved("seed"); // from the start, or what refills again
    });
    const link = linkOf(name, () => state);
    /** The settings from here on, as state and on the page. */
    const put = settings => {
      Object.assign(state, settings);
      fields.forEach(f => f.put(state[f.control.key]));
      seed.value = String(state.seed);
      presets.mark(state);
    };

    const panels = spec.panels.map((panel, i) =>
      panelOf({height: 220, legend: [], ...panel}, String(i)),
    );
    const said = make("output", {class: "x-summary"});
    const list = numbersOf(written);
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
      begun: () => reveal(stage),
      show: moment => {
        const result = spec.view(
          panels.map(p => p.frame),
          moment,
        );
        list.put(result);
        said.setAttribute("aria-live", player.playing() ? "off" : "polite"); // read when it rests
        said.replaceChildren(...X.rich(result.summary));
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
    root.classList.add("x-training");
    const {stage} = assemble(root, {
      title: spec.title,
      panels,
      said,
      player: [player.node],
      fields,
      presets,
      rest: [
        ...player.more,
        make("div", {class: "x-field"}, label, seed),
        make("div", {class: "x-buttons"}, ...link.nodes),
      ],
      list,
    });

    /** Settings that a link names; what it names wrongly starts as ever, and that is said. */
    const restore = query => {
      const {settings, unknown} = named(all, query);
      put({...start, ...settings});
      link.tell(unknown);
      player.restart();
      if (query.has("play")) player.play();
    };
    /** As X.build's; a run goes on with what it can change. */
    const steer = query => {
      const wanted = {...start, ...named(all, query).settings};
      const changed = Object.keys(wanted).filter(key => wanted[key] !== state[key]);
      put(wanted);
      if (changed.length) moved(changed.find(key => fixed.includes(key)) ?? changed[0]);
      if (query.has("play")) player.play();
    };
    put(start);
    player.restart(spec.opens);
    onWidth(root, player.later);
    return [name, {restore, stage, steer}];
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
