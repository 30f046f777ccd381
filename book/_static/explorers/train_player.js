/* The player of a training: play, pause, step, speed, start again, and a scrubber over the run so
   far. Nothing moves before somebody asks for it. */
(X => {
  "use strict";
  const {field, make} = X;

  const button = text => make("button", {type: "button", class: "x-reset"}, text);

  /** The scrubber: {node, input, show(step, at, run)}. */
  function scrubber(id, counted) {
    const input = make("input", {id, type: "range", min: 0, max: 0, step: 1, autocomplete: "off"});
    const where = make("output", {for: id, "aria-live": "off"});
    const label = make("label", {for: id}, "the run so far");
    const node = make("div", {class: "x-field x-scrub"}, label, where, input);
    const show = (step, at, run) => {
      const all = at === run.length - 1 ? "" : ` of ${run.step}`;
      where.textContent = `${counted} ${step}${all}`;
      input.max = String(run.length - 1);
      input.value = String(at);
      input.setAttribute("aria-valuetext", where.textContent);
    };
    return {node, input, show};
  }

  /**
   * A player of the training `spec` on the page: {node, more, playing(), play(), restart(until),
   * change(key)}; `more` are its controls that are seldom needed. `begun()` is called when it plays.
   *
   * `settings()` and `seed()` say how a run is started, `reset()` puts them back, `show(moment)`
   * draws a record: {run, at, step, settings, seed}. A setting that a run cannot change starts it
   * again; where `spec.refills` it goes on by itself to where it was, beside its `ghost`. A run
   * takes its first `spec.begins` steps before anybody asks. The first run shows only how it stands
   * after `spec.opens` steps, and Play begins it anew.
   */
  X.makePlayer = ({name, spec, settings, seed, reset, begun, show}) => {
    const {fixed} = X.training.N.models[spec.model];
    const end = () =>
      typeof spec.end === "function" ? spec.end(run.events()) : spec.end;
    const play = button("Play");
    const step = button("Step");
    const again = button("Start again");
    const back = button("Reset");
    const text = v => `${v} ${spec.unit} a second`;
    const pace = {key: "speed", label: "speed", values: spec.speeds, text,
      start: spec.pace ?? spec.speeds[2]};
    const speed = field(pace, `explorer-${name}-speed`);
    const scrub = scrubber(`explorer-${name}-scrub`, spec.counted);
    const group = {class: "x-player", role: "group", "aria-label": `Run: ${spec.title}`};
    const node = make("div", group, play, again);
    const more = [scrub.node, speed.node, make("div", {class: "x-buttons"}, step, back)];

    let playing = false;
    let rate = pace.start;
    let at = 0; // the record that is shown
    let follows = true; // it is the last one, however many there are
    let due = 0; // steps that the clock asks for and that were not taken yet
    let before = 0;
    let until = 0; // the step up to which a run that was started again catches up
    let queued = 0;

    const run = X.makeRun(spec.model, () => {
      if (follows) at = run.length - 1;
      if (run.step >= until) until = 0;
      if (until) run.advance(until - run.step);
      if (!until || !opens()) later();
    });
    const opens = () => spec.opens && run.number === 1;
    function redraw() {
      queued = 0;
      if (!run.length) return;
      at = Math.min(at, run.length - 1);
      const now = at * run.every;
      scrub.show(now, at, run);
      show({run, at, step: now, settings: run.settingsAt(now), seed: seed()});
    }
    function later() {
      if (!queued) queued = requestAnimationFrame(redraw);
    }
    function tick(now) {
      if (!playing) return;
      due = Math.min(due + ((now - before) / 1000) * rate, rate / 4 + 1);
      before = now;
      if (run.step >= end()) set(false);
      else if (due >= 1 && !run.busy()) {
        const count = Math.min(Math.floor(due), end() - run.step);
        due -= count;
        run.advance(count);
      }
      requestAnimationFrame(tick);
    }
    function set(on) {
      playing = on;
      play.textContent = on ? "Pause" : "Play";
      if (on) {
        if (opens()) restart();
        follows = true;
        at = Math.max(run.length - 1, 0);
        before = performance.now();
        requestAnimationFrame(tick);
        begun();
      }
      later();
    }
    function restart(goal = spec.begins ?? 0) {
      until = goal;
      at = 0;
      due = 0;
      follows = true;
      run.start(settings(), seed());
    }
    function anew() {
      if (!spec.refills) return restart();
      const goal = Math.max(until, run.step);
      if (!until) { // a run that still catches up is no shadow: the one before it stays
        const {d} = run.settingsAt(0);
        run.ghost = Array.from({length: run.length}, (_, i) => ({row: [...run.row(i)], d}));
      }
      return restart(goal);
    }

    play.addEventListener("click", () => set(!playing));
    step.addEventListener("click", () => {
      set(false);
      follows = true;
      if (run.step < end()) run.advance(run.every);
    });
    again.addEventListener("click", () => restart());
    back.addEventListener("click", () => {
      set(false);
      run.ghost = null;
      rate = pace.start;
      speed.put(rate);
      reset();
      restart();
    });
    speed.input.addEventListener("input", () => {
      rate = speed.read();
      speed.put(rate);
    });
    scrub.input.addEventListener("input", () => {
      if (playing) set(false);
      at = Number(scrub.input.value);
      follows = at === run.length - 1;
      later();
    });
    speed.put(rate);
    const change = key => (key === "seed" || fixed.includes(key) ? anew() : run.set(settings()));
    return {node, more, change, later, restart, playing: () => playing, play: () => playing || set(true)};
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
