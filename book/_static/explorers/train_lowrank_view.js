/* Training: low rank. M in the basis [B, B⊥] as it trains, the mass inside and outside col(B), and
   the overlap. */
(X => {
  "use strict";
  const {
    choice,
    heat,
    perRecord,
    replot,
    roomy,
    runningMean,
    show,
    slider,
    staircase,
    thinned,
    training,
  } = X;
  const {lowrank: model} = training.N.models;

  const seen = kind =>
    perRecord((run, index) => {
      const {d, k} = run.settingsAt(0);
      const from = 2 + (kind === "linear" ? d * d : 0);
      return model.alignment(run.row(index).subarray(from, from + d * d), d, k);
    });
  const softly = seen("softmax");
  const linearly = seen("linear");
  const mean = runningMean(row => row[0], 100);
  const linearMean = runningMean(row => row[1], 100);

  X.explorers.train_lowrank = {
    title: "a head finds the directions that matter",
    model: "lowrank",
    unit: "steps",
    counted: "step",
    speeds: [10, 30, 100, 300, 1000, 3000],
    end: 10000,
    presets: [
      {name: "bowls, as in Figure 9", settings: {}},
      {name: "ramps", settings: {link: "affine"}},
      {name: "waves", settings: {link: "cosine"}},
      {name: "without the stretch", settings: {J: "no"}},
      {name: "where it breaks: ~d~ = 4", settings: {J: "no", d: 4}},
    ],
    derive: () => ({n: 50, sigma: 0.01}),
    controls: [
      choice(
        "link",
        "tasks",
        [
          ["affine", "ramps"],
          ["quadratic", "bowls"],
          ["cosine", "waves"],
          ["linear", "linear"],
        ],
        "quadratic",
      ),
      choice(
        "J",
        "stretch ~J~",
        [
          ["yes", "on, as in the paper’s Figure 9"],
          ["no", "off"],
        ],
        "yes",
      ),
      slider("d", "dimension ~d~", [4, 6, 10], 10),
      slider("k", "relevant directions ~k~", [1, 2, 3], 2),
    ],
    panels: [
      {name: "~M~ in the basis [~B~, ~B~_{⊥}]: the relevant directions come first", height: 200},
      {
        name: "Mass per direction, softmax head",
        height: 210,
        folded: true,
        legend: [
          ["inside col(~B~)", "target"],
          ["outside", "other"],
          ["best ~c~, ~e~ in ~cBBᵀ~ + ~eB~_{⊥}~B~_{⊥}ᵀ", "exact"],
        ],
      },
      {
        name: "Overlap of the leading directions with the relevant ones",
        height: 210,
        legend: [
          ["softmax head", "softmax"],
          ["linear head", "other"],
          ["chance, ~k~/~d~", "thin"],
        ],
      },
      {
        name: "Loss, mean of 100 steps",
        height: 210,
        folded: true,
        legend: [
          ["softmax head", "softmax"],
          ["linear head", "other"],
          ["best head, softmax or linear", "exact"],
        ],
      },
    ],
    view([maps, mass, overlap, loss], {run, at, step, settings}) {
      const {d, k} = settings;
      const row = run.row(at);
      const softmax = row.slice(2, 2 + d * d);
      const linear = row.slice(2 + d * d);
      const now = softly(run, at);
      const other = linearly(run, at);
      const size = m => Math.max(1e-6, ...m.map(Math.abs));
      const shown = thinned(at + 1);
      const end = Math.max(500, roomy(run.step));
      const x = {label: "steps", range: [0, end]};
      const best = run.bestAt(step);
      const events = run.events();
      const known = events.map(event => event.best).filter(Boolean);
      const exactly = (kind, part) =>
        staircase(events, end, event => (event.best ? event.best[kind][part] : NaN));
      const beside = best
        ? `; of the best head ${show(best.softmax.c, 3)} and ${show(best.softmax.e, 3)}`
        : "";
      const marks = at < run.length - 1 ? [{at: step}] : [];
      heat(maps, {
        height: 200,
        label:
          "M of the softmax head and of the linear head in the basis of B; mass per direction of " +
          `the softmax head inside col(B) ${show(now.relevant, 3)}, outside ` +
          `${show(now.spurious, 3)}.`,
        maps: [
          {
            name: "softmax head",
            size: d,
            values: softmax,
            range: size(softmax),
            scaled: true,
            marks: [k],
          },
          {
            name: "linear head",
            size: d,
            values: linear,
            range: size(linear),
            scaled: true,
            marks: [k],
          },
        ],
      });
      const inside = shown.map(i => [i, softly(run, i).relevant]);
      const outside = shown.map(i => [i, softly(run, i).spurious]);
      const values = [
        ...[...inside, ...outside].map(p => p[1]),
        ...known.map(({softmax}) => 1.1 * softmax.c),
      ];
      replot(mass, {
        x,
        marks,
        y: {range: [Math.min(0, ...values), roomy(Math.max(1, ...values))]},
        label:
          `Mass per direction against the steps: inside ${show(now.relevant, 3)}, outside ` +
          `${show(now.spurious, 3)}${beside}.`,
        lines: [
          {points: exactly("softmax", "e"), kind: "exact", name: "best ~e~"},
          {points: exactly("softmax", "c"), kind: "exact", name: "best ~c~"},
          {points: outside, kind: "other", name: "outside"},
          {points: inside, kind: "target", name: "inside"},
        ],
      });
      replot(overlap, {
        x,
        marks,
        y: {range: [0, 1.02]},
        label:
          `Overlap against the steps: softmax head ${show(now.overlap, 2)}, linear head ` +
          `${show(other.overlap, 2)}, chance ${show(k / d, 2)}.`,
        lines: [
          {
            points: [
              [0, k / d],
              [end, k / d],
            ],
            kind: "thin",
          },
          {
            points: shown.slice(1).map(i => [i, linearly(run, i).overlap]),
            kind: "other",
            name: "linear head",
          },
          {
            points: shown.slice(1).map(i => [i, softly(run, i).overlap]),
            kind: "softmax",
            name: "softmax head",
          },
        ],
      });
      const means = [mean, linearMean].map(m => shown.slice(1).map(i => [i, m(run, i)]));
      const all = [
        ...means.flat().map(p => p[1]),
        ...known.flatMap(({softmax, linear}) => [softmax.loss, linear.loss]),
      ].filter(v => v > 0);
      replot(loss, {
        x,
        marks,
        y: {log: true, range: all.length ? X.decades(all, 4) : [0.01, 1]},
        label:
          `Loss against the steps: softmax ${show(mean(run, at), 3)}, linear ` +
          `${show(linearMean(run, at), 3)}.`,
        lines: [
          {points: exactly("linear", "loss"), kind: "exact", name: "best linear head"},
          {points: exactly("softmax", "loss"), kind: "exact", name: "best softmax head"},
          {points: means[1], kind: "other", name: "linear head"},
          {points: means[0], kind: "softmax", name: "softmax head"},
        ],
      });
      return {
        rows: [
          ["relevant", "mass per direction inside col(~B~)", now.relevant],
          ["spurious", "outside", now.spurious],
          ["c", "~c~ of the best ~cBBᵀ~ + ~eB~_{⊥}~B~_{⊥}ᵀ", best ? best.softmax.c : NaN],
          ["e", "~e~ of the best", best ? best.softmax.e : NaN],
          ["rho", "~ρ~(~M~, ~B~)", now.rho],
          ["overlap", "overlap of the softmax head", step ? now.overlap : NaN],
          ["linear", "overlap of the linear head", step ? other.overlap : NaN],
          ["chance", "overlap by chance", k / d],
          ["loss", "loss, mean of 100 steps", mean(run, at)],
          ["lowest", "loss of this best softmax head", best ? best.softmax.loss : NaN],
          ["linearLowest", "loss of the best linear head of that form", best ? best.linear.loss : NaN],
        ],
        summary:
          step === 0
            ? "Before training the head treats all directions alike. Press Play."
            : `After ${step} steps ${show(100 * now.overlap, 2)} % of the head’s leading ` +
              `directions are those that matter, against ${show((100 * k) / d, 2)} % by chance.`,
      };
    },
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
