/* Training: the stages. The attention as it fills, the scores of a rare query, and its phases as
   they pass. */
(X => {
  "use strict";
  const {firstWhere, flow, heat, perRecord, replot, remembered, show} = X;
  const {slider, thinned, training} = X;
  const {stages: model} = training.N.models;
  const PROMPTS = 4;
  const RATE = 1;
  const TOKENS = 50; // prompts of a column and step; learning rate; tokens of a prompt per feature

  const limit = remembered(({K, p1}) => flow("rare", K, p1));
  /** How long settings are followed: three times the wait, or where the mean field ends. */
  const horizon = ({K, p1}) => {
    const {points, passed} = limit({K, p1});
    return Math.ceil(Math.min(points[points.length - 1].t, 3 * passed.half.t) / RATE / 100) * 100;
  };
  const lastStep = events => Math.max(...events.map(e => e.step + horizon(e.settings)));

  /**
   * The mean entries of the rare queries' columns and their attention, in a record; and which marks
   * they have passed.
   */
  const stateOf = perRecord((run, index) => {
    const {K, p1} = run.settingsAt(index * run.every);
    const theta = run.row(index);
    const p = model.probabilities(K, p1);
    let A = 0;
    let B1 = 0;
    let B = 0;
    for (let k = 1; k < K; k++)
      for (let m = 0; m < K; m++) {
        if (m === k) A += theta[k * K + m] / (K - 1);
        else if (m === 0) B1 += theta[k * K] / (K - 1);
        else B += theta[k * K + m] / (K - 1) / Math.max(1, K - 2);
      }
    const top = p[1] * Math.exp(A);
    const first = p[0] * Math.exp(B1);
    const rest = (K - 2) * p[1] * Math.exp(B);
    const total = top + first + rest;
    const own = top / total;
    const dominant = first / total;
    const others = rest / total;
    const off = dominant + others;
    const error = 0.5 * (off * off + dominant * dominant + (others * others) / Math.max(1, K - 2));
    let measured = 0;
    for (let k = 1; k < K; k++) measured += theta[K * K + k] / (K - 1);
    const past = [
      2 * own * error > dominant * (dominant + off - 2 * error),
      own > dominant,
      own > 0.5,
    ];
    if (index)
      stateOf(run, index - 1).past.forEach((was, i) => {
        past[i] ||= was;
      });
    return {A, B1, own, dominant, others, error: measured, first: theta[K * K], past};
  });
  const NAMES = ["I", "II", "III", "IV"];

  X.explorers.train_stages = {
    title: "attention learns in stages",
    model: "stages",
    unit: "steps",
    counted: "step",
    speeds: [5, 20, 60, 200, 600, 2000],
    end: lastStep,
    presets: [
      {name: "twelve features", settings: {}},
      {name: "six: a shorter wait", settings: {K: 6}},
      {name: "twenty: a longer one", settings: {K: 20}},
      {name: "sixty: the error nearly stands still", settings: {K: 60}},
      {name: "very dominant: a longer wait", settings: {p1: 0.8}},
      {name: "hardly dominant: no first phase", settings: {K: 8, p1: 0.2}},
    ],
    derive: ({K}) => ({N: TOKENS * K, prompts: PROMPTS, rate: RATE}),
    controls: [
      slider("K", "number of features ~K~", [6, 8, 10, 12, 16, 20, 40, 60], 12),
      slider("p1", "dominant probability ~p~_{1}", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], 0.5),
    ],
    panels: [
      {name: "Attention of each query (row) on each feature (column)", height: 210},
      {
        name: "Scores of a rare query",
        height: 210,
        folded: true,
        legend: [
          ["~A~_{k}, on its target", "target"],
          ["~B~_{k,1}, on the dominant feature", "dominant"],
          ["mean field", "thin"],
        ],
      },
      {
        name: "Attention of a rare query",
        height: 210,
        legend: [
          ["on its target", "target"],
          ["on the dominant feature", "dominant"],
          ["on all others", "other"],
          ["mean field", "thin"],
        ],
      },
      {
        name: "Prediction error",
        height: 210,
        folded: true,
        legend: [
          ["rare query", "target"],
          ["dominant query", "dominant"],
        ],
      },
    ],
    view([map, weights, scores, error], {run, at, step, settings}) {
      const {K, p1} = settings;
      const exact = limit({K, p1});
      const end = lastStep(run.events());
      for (let i = 0; i <= at; i++) stateOf(run, i);
      const now = stateOf(run, at);
      const shown = thinned(at + 1);
      const place = i => i * run.every;
      const phase = now.past.lastIndexOf(true) + 1;
      const starts = [0, 1, 2].map(m => {
        const first = firstWhere(0, at + 1, i => stateOf(run, i).past[m]); // they stay passed
        return first > at ? null : place(first);
      });
      const grain = Math.ceil(end / 60); // the last band grows by grains: axes are drawn seldom
      const last = Math.ceil(step / grain) * grain;
      const edges = [
        0,
        ...starts.map((s, i) => s ?? starts.slice(i).find(v => v !== null) ?? last),
        last,
      ];
      const bands = NAMES.map((text, i) => ({from: edges[i], to: edges[i + 1], text})).filter(
        b => b.to > b.from,
      );
      const x = {label: "time (steps of size 1)", short: "time", range: [0, end]};
      const marks = at < run.length - 1 ? [{at: step}] : [];
      const path = key => shown.map(i => [place(i), stateOf(run, i)[key]]);
      const flowing = key => exact.points.map(p => [p.t / RATE, p[key]]);
      const attention = model.attention(run.row(at).subarray(0, K * K), K, p1);
      heat(map, {
        height: 210,
        label:
          `Attention of ${K} queries on ${K} features after ${step} steps; a rare query gives ` +
          `${show(now.own, 2)} to its own feature and ${show(now.dominant, 2)} to the dominant ` +
          "one.",
        maps: [{name: "1 is the dominant feature", size: K, values: attention, range: 1}],
      });
      const reach = Math.max(...exact.points.map(p => p.A), now.A) * 1.1;
      const fall = Math.min(...exact.points.map(p => p.B1), now.B1) * 1.2;
      replot(weights, {
        x,
        y: {label: "score", range: [fall, reach]},
        bands,
        marks,
        label:
          "Scores of a rare query against the steps, the phases as bands: on its target " +
          `${show(now.A, 3)}, on the dominant feature ${show(now.B1, 3)}.`,
        lines: [
          {points: flowing("A"), kind: "target x-thin", name: "mean field, ~A~"},
          {points: flowing("B1"), kind: "dominant x-thin", name: "mean field, ~B~"},
          {points: path("B1"), kind: "dominant", name: "~B~_{k,1}"},
          {points: path("A"), kind: "target", name: "~A~_{k}"},
        ],
      });
      replot(scores, {
        x,
        y: {label: "attention", range: [0, 1]},
        bands,
        marks,
        label:
          `Attention of a rare query against the steps: ${show(now.own, 2)} on its target, ` +
          `${show(now.dominant, 2)} on the dominant feature.`,
        lines: [
          {points: flowing("others"), kind: "other x-thin"},
          {points: flowing("dominant"), kind: "dominant x-thin"},
          {points: flowing("target"), kind: "target x-thin"},
          {points: path("others"), kind: "other", name: "others"},
          {points: path("dominant"), kind: "dominant", name: "dominant"},
          {points: path("own"), kind: "target", name: "target"},
        ],
      });
      replot(error, {
        x,
        y: {label: "error", log: true, range: [0.001, 1]},
        bands,
        marks,
        label:
          `Errors against the steps: ${show(now.error, 2)} for a rare query, ` +
          `${show(now.first, 2)} for the dominant one.`,
        lines: [
          {points: path("first").slice(1), kind: "dominant", name: "dominant"},
          {points: path("error").slice(1), kind: "target", name: "rare"},
        ],
      });
      const said = [
        "it unlearns the dominant feature",
        "the score on its target creeps up, unseen",
        "its target takes off",
        "the rest of its error is polished away",
      ][phase];
      const at3 = exact.passed.half.t / RATE;
      return {
        rows: [
          ["A", "~A~_{k}, mean of the rare queries", now.A],
          ["B1", "~B~_{k,1}", now.B1],
          ["own", "attention on the target", now.own],
          ["dominant", "attention on the dominant feature", now.dominant],
          ["lead", "step at which unlearning (I) ended", starts[0] ?? NaN],
          ["overtake", "step at which creeping (II) ended", starts[1] ?? NaN],
          ["half", "step at which take-off (III) ended", starts[2] ?? NaN],
          ["exact", "the same in the mean field", at3],
        ],
        summary:
          step === 0
            ? "Before training a query attends to every feature as often as it occurs. Press Play."
            : `Step ${step}, phase ${NAMES[phase]} of a rare query: ${said}. Its target has ` +
              `${show(100 * now.own, 2)} % of its attention.`,
      };
    },
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
