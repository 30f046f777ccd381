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
      return {
        rows,
        add() {
          run.record(row, 0);
          rows.set(row, filled);
          filled += row.length;
        },
        filled: () => rows.slice(0, filled),
      };
    };
    return ({kind, model, settings, seed, count, budget, number: asked}) => {
      if (kind === "start") {
        run = N.models[model].start(settings, seed);
        row = new Float64Array(run.size);
        step = 0;
        number = asked;
        const first = rowsOf(1);
        first.add();
        post({number, step, size: run.size, every: run.every, rows: first.rows});
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
  function aside(answer, fail) {
    const source = `"use strict"; const N = {models: {}};
${X.training.sources.map(body => `(${body})(N);`).join("\n")}
const take = (${engine})(N, message => postMessage(message, [message.rows.buffer]));
onmessage = event => take(event.data);`;
    const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
    const made = new Worker(address);
    made.onmessage = event => answer(event.data);
    made.onerror = fail;
    return message => made.postMessage(message);
  }

  /** A run of `model`; `changed()` is called when there are new records. */
  X.makeRun = (model, changed) => {
    let rows;
    let size = 0;
    let asked = false;
    let events = [];
    let seedNow;
    const run = {number: 0, step: 0, length: 0, every: 1, aside: true, busy: () => asked};
    const answer = message => {
      if (message.number !== run.number) return; // of a run that was given up
      if (message.settings) {
        // in force from here on
        if (events[events.length - 1].step === message.step) events.pop();
        events.push({step: message.step, settings: message.settings});
        changed();
        return;
      }
      if (message.size) {
        size = message.size;
        run.every = message.every;
        rows = new Float64Array(256 * size);
        run.length = 0;
      }
      const more = message.rows.length / size;
      if ((run.length + more) * size > rows.length) {
        const larger = new Float64Array(Math.max(2 * rows.length, (run.length + more) * size));
        larger.set(rows);
        rows = larger;
      }
      rows.set(message.rows, run.length * size);
      run.length += more;
      run.step = message.step;
      asked = false;
      changed();
    };
    let send;
    const stay = () => {
      // no worker: the page takes the steps itself, from the start
      run.aside = false;
      send = onThePage(answer);
      if (events.length) run.start(events[events.length - 1].settings, seedNow);
    };
    try {
      send = aside(answer, stay);
    } catch {
      stay();
    }
    run.start = (settings, seed) => {
      events = [{step: 0, settings: {...settings}}];
      seedNow = seed;
      run.step = run.length = 0;
      asked = true;
      send({kind: "start", model, settings: {...settings}, seed, number: ++run.number});
    };
    /** Other settings from the next step on. */
    run.set = settings => send({kind: "set", settings: {...settings}});
    run.advance = (count, budget = 12) => {
      if (asked || !run.length) return;
      asked = true;
      send({kind: "advance", count, budget});
    };
    run.row = index => rows.subarray(index * size, (index + 1) * size);
    run.events = () => events;
    run.settingsAt = step =>
      events.reduce(
        (found, event) => (event.step <= step ? event.settings : found),
        events[0].settings,
      );
    return run;
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
