/* A run of a training: a worker takes the steps, the page keeps a record of every step to look
   back at. */
(X => {
  "use strict";

  /**
   * What takes the steps, in a worker or on the page: a function of messages. Stands alone: a
   * worker gets its source.
   */
  function engine(N, post) {
    let run;
    let row;
    let step;
    let number;
    const rowsOf = count => {
      const rows = new Float64Array(count * row.length);
      let filled = 0;
      const add = () => {
        run.record(row, 0);
        rows.set(row, filled);
        filled += row.length;
      };
      return {add, filled: () => rows.slice(0, filled)};
    };
    return ({kind, model, settings, seed, count, budget, number: asked}) => {
      if (kind === "start") {
        run = N.models[model].start(settings, seed);
        row = new Float64Array(run.size);
        step = 0;
        number = asked;
        post({number, step, settings, rows: new Float64Array(0)});
      } else if (kind === "set") {
        run.set(settings);
        post({number, step, settings, rows: new Float64Array(0)});
      } else {
        // steps until the count or the time is over
        const until = performance.now() + budget;
        const out = rowsOf(Math.ceil(count / run.every) + 1);
        for (let i = 0; i < count && (i === 0 || performance.now() < until); i++) {
          run.take(run.draw(step));
          if (++step % run.every === 0) out.add();
        }
        post({number, step, rows: out.filled()});
      }
    };
  }

  /**
   * Somebody to send messages to: a worker made of the numerics' sources, or the page itself where
   * there can be none.
   */
  function onThePage(answer) {
    const take = engine(X.training.N, message => setTimeout(() => answer(message)));
    return message => setTimeout(() => take({...message, budget: Math.min(8, message.budget)}));
  }
  X.workerSource = () => `"use strict"; const N = {models: {}};
${X.training.sources.map(body => `(${body})(N);`).join("\n")}
const take = (${engine})(N, message => postMessage(message, [message.rows.buffer]));
onmessage = event => take(event.data);`;
  function aside(answer, fail) {
    const address = URL.createObjectURL(new Blob([X.workerSource()], {type: "text/javascript"}));
    const made = new Worker(address);
    made.onmessage = event => answer(event.data);
    made.onerror = fail;
    return message => made.postMessage(message);
  }

  /**
   * A run of `model`; `changed()` is called when there are new records. The page itself makes the
   * first record; a worker is started with the first step.
   */
  X.makeRun = (model, changed) => {
    let rows;
    let size = 0;
    let asked = false; // steps that were not answered yet
    let first = null; // what the run starts with, until the first step
    let events = [];
    let send = null;
    const run = {number: 0, step: 0, length: 0, every: 1, busy: () => asked};

    function add(more) {
      if (rows.length < run.length * size + more.length) {
        const larger = new Float64Array(Math.max(2 * rows.length, run.length * size + more.length));
        larger.set(rows);
        rows = larger;
      }
      rows.set(more, run.length * size);
      run.length += more.length / size;
      changed();
    }
    function answer({number, step, settings, rows: more}) {
      if (number !== run.number) return; // of a run that was given up
      if (settings) {
        // in force from here on
        const last = events[events.length - 1];
        if (last.step === step) last.settings = settings;
        else events.push({step, settings});
        changed();
        return;
      }
      run.step = step;
      asked = false;
      add(more);
    }
    /** No worker: the page takes the steps itself, from the start. */
    function stay() {
      send = onThePage(answer);
      const {settings} = events[events.length - 1];
      run.start(settings, events[0].seed);
    }
    function wake() {
      try {
        send ??= aside(answer, stay);
      } catch {
        stay();
      }
    }
    run.start = (settings, seed) => {
      events = [{step: 0, settings: {...settings}, seed}];
      first = {kind: "start", model, settings: {...settings}, seed, number: ++run.number};
      asked = false;
      run.step = run.length = 0;
      const own = X.training.N.models[model].start(settings, seed);
      size = own.size;
      run.every = own.every;
      rows = new Float64Array(256 * size);
      const row = new Float64Array(size);
      own.record(row, 0);
      add(row);
    };
    /** Other settings from the next step on. */
    run.set = settings => {
      if (first) run.start(settings, first.seed);
      else send({kind: "set", settings: {...settings}});
    };
    run.advance = (count, budget = 12) => {
      if (asked) return;
      wake();
      if (first) send(first);
      first = null;
      asked = true;
      send({kind: "advance", count, budget});
    };
    run.row = index => rows.subarray(index * size, (index + 1) * size);
    run.events = () => events;
    run.settingsAt = step => events.findLast(event => event.step <= step).settings;
    return run;
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
