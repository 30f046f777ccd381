/* Training: how many prompts. Each step draws a pretraining set and solves it; its two errors are
   a dot each. */
(X => {
  "use strict";
  const {choice, descentErrors, logspace, plain, replot, remembered, show, slider, training} = X;
  const {prompts: model} = training.N.models;
  const DIMENSIONS = [4, 6, 8, 10, 12, 14];
  // without the curve the axis counts prompts, the same for every dimension
  const COUNTED = {
    label: "practice prompts ~n~",
    log: true,
    range: [model.LOW * DIMENSIONS[0] ** 2, model.HIGH * DIMENSIONS.at(-1) ** 2],
    ticks: [2, 5, 10, 20, 50, 100, 200, 500, 1000],
  };

  const curve = remembered(({alpha, kappa, rho, lambda}) =>
    [...logspace(0.1, 6, 161), ...logspace(1e-3, 0.1, 20).flatMap(e => [1 - e, 1 + e])]
      .sort((a, b) => a - b)
      .filter(tau => lambda > 0 || tau !== 1)
      .map(tau => ({tau, ...descentErrors(alpha, kappa, tau, rho, lambda)})),
  );
  const median = list => (list.length ? list.sort((a, b) => a - b)[list.length >> 1] : NaN);

  /** What the sets so far say. */
  const said = (step, threshold, near, high, beyond, low) => {
    const first = near
      ? `Near ${threshold} prompts, as many as parameters, the median error is ${show(high, 2)}`
      : "None is near the parameters’ number yet";
    const then = beyond ? `; with three times as many it is ${show(low, 2)}` : "";
    return `${step} sets. ${first}${then}.`;
  };

  /** And where nothing is said of what is expected. */
  const seen = rows => {
    const worst = rows.reduce((a, b) => (b[1] > a[1] ? b : a));
    const size = show(worst[1], 2);
    return `${rows.length} layers. The worst practised on ${worst[0]} prompts and has test error ${size}.`;
  };

  X.explorers.train_prompts = {
    title: "how many prompts",
    model: "prompts",
    unit: "sets",
    counted: "set",
    speeds: [2, 5, 20, 60, 200],
    end: 3000,
    refills: true,
    begins: 60,
    presets: [
      {name: "the peak", settings: {}},
      {name: "a ridge removes it", settings: {lambda: 0.1}},
      {name: "no ridge", settings: {lambda: 0, d: 14}},
      {name: "short contexts", settings: {alpha: 1, kappa: 0.5, rho: 0.01}},
      {name: "long contexts", settings: {alpha: 100, kappa: 0.5, rho: 0.01}},
      {
        name: "a gap that stays",
        settings: {alpha: 100, kappa: 0.5, rho: 0.01, lambda: 1e-3},
      },
    ],
    controls: [
      slider("lambda", "ridge ~λ~", [0, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1], 1e-5, v =>
        v === 0 ? "0 (none)" : plain(v),
      ),
      slider("kappa", "task diversity ~κ~ = ~k~/~d~", [0.2, 0.5, 1, 2, 5, Infinity], Infinity, v =>
        v === Infinity ? "∞, fresh" : plain(v),
      ),
      slider("d", "numbers in an input, ~d~", DIMENSIONS, 10),
      slider("alpha", "context length ~α~ = ~ℓ~/~d~", [1, 2, 5, 10, 20, 50, 100], 10),
      slider("rho", "label noise ~ρ~", [0.01, 0.05, 0.1, 0.3, 1], 0.1),
      choice("exact", "exact curve", [["shown", "shown"], ["hidden", "hidden"]], "shown"),
    ],
    panels: [
      {
        name: "Test error of each layer that practised",
        height: 320,
        legend: [
          ["test error", "ICL", true],
          ["exact for ~d~ → ∞", "ICL"],
          ["error on practised tasks", "IDG", true],
          ["exact", "IDG"],
          ["always answering 0", "thin"],
          ["before the last change", "ghost", true],
        ],
      },
    ],
    view([panel], {run, at, step, settings}) {
      const {d, kappa, rho} = settings;
      const bare = settings.exact === "hidden";
      const rows = Array.from({length: at}, (_, i) => run.row(i + 1));
      const exact = curve(settings);
      const threshold = d * (d + 1);
      const place = (n, of) => (bare ? n : n / (of * of));
      const dots = (list, column) => list.map(row => [place(row[0], d), row[column]]);
      const both = kappa !== Infinity;
      const x = bare
        ? COUNTED
        : {label: "~τ~ = ~n~/~d~²", log: true, range: [model.LOW, model.HIGH]};
      const peak = rows.filter(row => Math.abs(Math.log(row[0] / threshold)) < 0.1);
      const many = rows.filter(row => row[0] > 3 * threshold);
      const before = run.ghost && run.ghost.length > 1 ? run.ghost.slice(1) : [];
      const floor = Math.min(...exact.map(e => Math.min(e.icl, both ? e.idg : e.icl)));
      const {dataset} = panel.closest(".explorer"); // its legend names what is drawn
      dataset.exact = settings.exact;
      dataset.lists = both ? "short" : "none";
      replot(panel, {
        label: bare
          ? `Errors of ${step} layers against the number of their practice prompts.`
          : `Errors of ${step} pretraining sets against their size over d squared, around the ` +
            `exact curves; the threshold d(d+1) is ${threshold} prompts.`,
        x,
        y: {label: "test error", log: true, range: [10 ** Math.floor(Math.log10(floor)), 100]},
        marks: bare
          ? []
          : [{at: threshold / (d * d), text: `~n~ = ~d~(~d~ + 1) = ${threshold}`}],
        lines: [
          {points: x.range.map(end => [end, 1 + rho]), kind: "thin"},
          {
            points: before.map(({row, d}) => [place(row[0], d), row[1]]),
            kind: "ghost",
            scatter: true,
          },
          ...(both ? [{points: dots(rows, 2), kind: "IDG", scatter: true}] : []),
          {points: dots(rows, 1), kind: "ICL", scatter: true},
          ...(both && !bare
            ? [{points: exact.map(e => [e.tau, e.idg]), kind: "IDG", name: "practised tasks"}]
            : []),
          ...(bare
            ? []
            : [{points: exact.map(e => [e.tau, e.icl]), kind: "ICL", name: "test error"}]),
        ],
      });
      const high = median(peak.map(row => row[1]));
      const low = median(many.map(row => row[1]));
      return {
        rows: [
          ["sets", "sets drawn", step],
          ["threshold", "parameters, ~d~(~d~ + 1)", threshold],
          ["peak", "median test error within 10 % of ~d~(~d~ + 1)", high],
          ["many", "median test error beyond 3 ~d~(~d~ + 1)", low],
          [
            "own",
            "median error on practised tasks beyond 3 ~d~(~d~ + 1)",
            median(many.map(row => row[2])),
          ],
        ],
        summary:
          step === 0
            ? "No layer has practised. Press Play: each practises on a set of prompts of its own."
            : bare
              ? seen(rows)
              : said(step, threshold, peak.length, high, many.length, low),
      };
    },
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
