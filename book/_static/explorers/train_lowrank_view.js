/* Training: low rank. M in the basis [B, B⊥] as it trains, the mass inside and outside col(B), and
   the overlap. */
(X => {
  "use strict";
  const {choice, heat, perRecord, replot, roomy, show, slider, staircase, thinned, training} = X;
  const {lowrank: model} = training.N.models;

  /**
   * The best softmax and linear heads of the form cBBᵀ + eB⊥B⊥ᵀ at the presets, [c, e, loss] each,
   * with a stretch for the frame and the J of seed 0: tests/explorers/test_best_heads.py.
   */
  const BEST = {
    "linear apart 10 2": [[66.63, 0.09298, 0.002357], [0.03918, -0.001077, 0.00995]],
    "linear apart 6 2": [[58.04, 0.08298, 0.00225], [0.03924, -0.0002715, 0.009809]],
    "linear apart 10 3": [[14.28, 0.08864, 0.01183], [0.05768, 0.0003791, 0.01308]],
    "quadratic yes 10 2": [[11.3, 7.292, 0.01034], [-0.01829, 0.01566, 0.03464]],
    "affine yes 10 2": [[11.02, 0.2034, 0.01046], [0.06257, 0.01027, 4.07]],
    "cosine yes 10 2": [[13.02, 6.733, 0.1878], [-0.006454, 0.003159, 0.4744]],
    "quadratic no 10 2": [[9.786, 3.762, 0.009777], [-0.002825, -0.01359, 0.02505]],
    "quadratic no 4 2": [[13.28, 11.53, 0.01688], [-0.009917, 0.009879, 0.1261]],
  };
  const headOf = ([c, e, loss]) => ({c, e, loss});
  /** The best heads {softmax, linear}, {c, e, loss} each; undefined where the table has none. */
  X.bestHeads = ({link, J, d, k}, seed) => {
    const [softmax, linear] = (J !== "yes" || seed === 0) && BEST[`${link} ${J} ${d} ${k}`] || [];
    return softmax && {softmax: headOf(softmax), linear: headOf(linear)};
  };

  const seen = kind =>
    perRecord((run, index) => {
      const {d, k} = run.settingsAt(0);
      const from = 2 + (kind === "linear" ? d * d : 0);
      return model.alignment(run.row(index).subarray(from, from + d * d), d, k);
    });
  const softly = seen("softmax");
  const linearly = seen("linear");
  const losses = X.lossesOf();

  X.explorers.train_lowrank = {
    title: "a head finds the directions that matter",
    model: "lowrank",
    unit: "steps",
    counted: "step",
    speeds: [10, 30, 100, 300, 1000, 3000],
    end: 10000,
    opens: 1000,
    presets: [
      {name: "two of ten directions", settings: {link: "linear", J: "apart"}},
      {name: "two of six", settings: {link: "linear", J: "apart", d: 6}},
      {name: "three of ten", settings: {link: "linear", J: "apart", k: 3}},
      {name: "bowls", settings: {}},
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
        "points",
        [
          ["yes", "stretched, as in Figure 9"],
          ["no", "on the sphere"],
          ["apart", "two parts of length one"],
        ],
        "yes",
      ),
      slider("d", "dimension ~d~", [4, 6, 10], 10),
      slider("k", "useful directions ~k~", [1, 2, 3], 2),
    ],
    panels: [
      {name: "The matrix ~M~: the useful directions come first", height: 200},
      {
        name: "Mass per direction, softmax head",
        height: 210,
        folded: true,
        legend: [
          ["inside col(~B~)", "target"],
          ["outside", "other"],
          ["best ~c~, ~g~ in ~cBBᵀ~ + ~gB~_{⊥}~B~_{⊥}ᵀ", "exact"],
        ],
      },
      {
        name: "Overlap of the strongest directions with the useful ones",
        height: 210, folded: true,
        legend: [
          ["overlap", "softmax"],
          ["random directions", "thin"],
        ],
      },
      {...losses.panel("best head, softmax or linear"), height: 210},
    ],
    view([maps, mass, overlap, loss], {run, at, step, settings, seed}) {
      const {d, k} = settings;
      const row = run.row(at);
      const now = softly(run, at);
      const other = linearly(run, at);
      const shown = thinned(at + 1);
      const end = Math.max(500, roomy(run.step));
      const x = {label: "steps", range: [0, end]};
      const best = X.bestHeads(settings, seed);
      const events = run.events();
      const known = events.map(event => X.bestHeads(event.settings, seed)).filter(Boolean);
      const exactly = (kind, part) =>
        staircase(events, end, at => X.bestHeads(at, seed)?.[kind][part] ?? NaN);
      const beside = best
        ? `; of the best head ${show(best.softmax.c, 3)} and ${show(best.softmax.e, 3)}`
        : "";
      const marks = at < run.length - 1 ? [{at: step}] : [];
      heat(maps, {
        height: 200,
        label:
          `M in the basis of B; mass per direction inside col(B) ${show(now.relevant, 3)}, ` +
          `outside ${show(now.spurious, 3)}.`,
        maps: [{...X.bothHeads(row, d, {marks: [k], least: [0.1, 0.01]})[0], name: "", scaled: false}],
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
        y: {label: "mass", range: [Math.min(0, ...values), roomy(Math.max(1, ...values))]},
        label:
          `Mass per direction against the steps: inside ${show(now.relevant, 3)}, outside ` +
          `${show(now.spurious, 3)}${beside}.`,
        lines: [
          {points: exactly("softmax", "e"), kind: "exact", name: "best ~g~"},
          {points: exactly("softmax", "c"), kind: "exact", name: "best ~c~"},
          {points: outside, kind: "other", name: "outside"},
          {points: inside, kind: "target", name: "inside"},
        ],
      });
      replot(overlap, {
        x,
        marks,
        y: {label: "overlap", range: [0, 1.02]},
        label:
          `Overlap against the steps: ${show(now.overlap, 2)}, chance ${show(k / d, 2)}.`,
        lines: [
          {
            points: [
              [0, k / d],
              [end, k / d],
            ],
            kind: "thin",
          },
          {
            points: shown.slice(1).map(i => [i, softly(run, i).overlap]),
            kind: "softmax",
            name: "overlap",
          },
        ],
      });
      losses.plot(loss, {run, at, x, marks, known: known.flatMap(heads => Object.values(heads)),
        exact: [
          {points: exactly("linear", "loss"), kind: "exact", name: "best linear head"},
          {points: exactly("softmax", "loss"), kind: "exact", name: "best softmax head"},
        ]});
      return {
        rows: [
          ["relevant", "mass per direction inside col(~B~)", now.relevant],
          ["spurious", "outside", now.spurious],
          ["c", "~c~ of the best ~cBBᵀ~ + ~eB~_{⊥}~B~_{⊥}ᵀ", best ? best.softmax.c : NaN],
          ["e", "~g~ of the best", best ? best.softmax.e : NaN],
          ["rho", "~ρ~(~M~, ~B~)", now.rho],
          ["overlap", "overlap of the softmax head", step ? now.overlap : NaN],
          ["linear", "overlap of the linear head", step ? other.overlap : NaN],
          ["chance", "overlap by chance", k / d],
          ["loss", "loss, mean of 100 steps", losses.softmax(run, at)],
          ["lowest", "loss of this best softmax head", best ? best.softmax.loss : NaN],
          ["linearLowest", "loss of the best linear head of that form", best ? best.linear.loss : NaN],
        ],
        summary:
          step === 0
            ? "Before training the matrix is zero. Press Play."
            : `After ${step} steps the head’s strongest directions overlap with the useful ones by ` +
              `${show(100 * now.overlap, 2)} %; by chance it would be ${show((100 * k) / d, 2)} %.`,
      };
    },
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
