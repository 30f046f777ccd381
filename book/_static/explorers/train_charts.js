/* What the trainings' pictures share: axes that move seldom, long histories drawn by few points. */
(X => {
  "use strict";
  const MEAN = 100; // steps over which a loss is averaged

  /** The least of 1, 2, 5, 10, 20, … that is not below x. */
  X.roomy = x => {
    const unit = 10 ** Math.floor(Math.log10(Math.max(x, 1e-12)) + 1e-9);
    return [1, 2, 5, 10].map(m => m * unit).find(v => v >= x * (1 - 1e-9));
  };

  /**
   * Places of at most about `most` records among the first `count`, the last one included: every
   * second, fourth, … of them, so that those that are shown later were shown before.
   */
  X.thinned = (count, most = 256) => {
    const stride = 2 ** Math.max(0, Math.ceil(Math.log2(count / most)));
    const out = [];
    for (let i = 0; i < count - 1; i += stride) out.push(i);
    if (count > 0) out.push(count - 1);
    return out;
  };

  /** A function of a run's records that is computed once for each record: (run, index) => value. */
  X.perRecord = compute => {
    let found = [];
    let of = null;
    return (run, index) => {
      if (of !== run.number) found = [];
      of = run.number;
      return (found[index] ??= compute(run, index));
    };
  };

  /** A value of the settings for each stretch of steps between two changes, as a line to `last`. */
  X.staircase = (events, last, value) =>
    events.flatMap(({step, settings}, i) => {
      const v = value(settings);
      const to = i + 1 < events.length ? events[i + 1].step : last;
      return [[step, v], [to, v], [to, NaN]];
    });

  /** Means of a value over the last MEAN records, from sums that grow with the run. */
  const runningMean = value => {
    const sumsOf = X.perRecord(() => [0, 0]); // record 0 is the start, before any step
    return (run, at) => {
      if (!at) return NaN;
      const sums = sumsOf(run, 0);
      for (let i = sums.length - 1; i <= at; i++) sums.push(sums[i] + value(run.row(i)));
      const from = Math.max(at - MEAN, 0);
      return (sums[at + 1] - sums[from + 1]) / (at - from);
    };
  };

  /**
   * The losses of a softmax and a linear head, which begin a record: their running means, and the
   * panel that shows them with lines of `exact` losses and what is `known`, [{loss}], in sight.
   */
  X.lossesOf = () => {
    const softmax = runningMean(row => row[0]);
    const linear = runningMean(row => row[1]);
    const panel = exact => ({name: `Loss, mean of ${MEAN} steps`, folded: true, legend: [
      ["softmax head", "softmax"], ["linear head", "other"], [exact, "exact"]]});
    const plot = (panel, {run, at, x, marks, exact, known}) => {
      const shown = X.thinned(at + 1).slice(1);
      const [soft, flat] = [softmax, linear].map(mean => shown.map(i => [i, mean(run, i)]));
      const all = [...[...soft, ...flat].map(p => p[1]), ...known.map(({loss}) => loss)];
      const seen = all.filter(v => v > 0);
      const range = seen.length ? X.decades(seen, 4) : [0.01, 1];
      X.replot(panel, {x, marks, y: {label: "loss", log: true, range},
        label: `Loss against the steps: softmax ${X.show(softmax(run, at), 3)}, linear `
          + `${X.show(linear(run, at), 3)}.`,
        lines: [...exact, {points: flat, kind: "other", name: "linear head"},
          {points: soft, kind: "softmax", name: "softmax head"}]});
    };
    return {softmax, linear, panel, plot};
  };

  /** The maps of both heads' matrices, which end a record; each has its own scale, `least` at least. */
  X.bothHeads = (row, d, {marks = [], least}) =>
    ["softmax head", "linear head"].map((name, i) => {
      const values = row.slice(2 + i * d * d, 2 + (i + 1) * d * d);
      const range = Math.max(least[i], ...values.map(Math.abs));
      return {name, size: d, values, range, scaled: true, marks};
    });

  /** A function of settings that remembers what it found. */
  X.remembered = (compute, most = 40) => {
    const found = new Map();
    return settings => {
      const key = JSON.stringify(settings);
      if (!found.has(key)) {
        if (found.size >= most) found.clear();
        found.set(key, compute(settings));
      }
      return found.get(key);
    };
  };

  /** A plot that keeps its axes and moves its curves where only they changed: for many a second. */
  X.replot = (panel, options) => {
    const {x, y, bands = [], marks = [], lines} = options;
    const looks = lines.map(line => [line.kind, line.sticks, line.scatter]);
    const key = JSON.stringify([X.widthOf(panel), x, y, bands.length > 0, marks, looks]);
    const shown = JSON.stringify(bands);
    const same = panel.banded === shown;
    panel.banded = shown;
    if (panel.drawn !== key) {
      X.plot(panel, options);
      panel.drawn = key;
      return;
    }
    const {placeX, placeY, box} = panel.view;
    const svg = panel.querySelector("svg");
    if (!same) X.drawBands(svg, bands, placeX, box, x.range);
    const curves = svg.querySelectorAll(":is(.x-line, .x-stick, .x-scatter)");
    lines.forEach((line, i) => curves[i].setAttribute("d", X.pathOf(line, placeX, placeY, y.log)));
    svg.setAttribute("aria-label", options.label);
    panel.view.lines = lines;
    X.probe?.(panel);
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
