/* Explorer: the phases of training (chapter 6). */
((X) => {
"use strict";
const {even, flow, plot, show, slider, whole, words} = X;
const SPAN = 2.2;                                   // of the time axis, in units of K²/(1 − p₁)
const LONGEST = 1e10;                               // of the axis of t
const ENDS = "ends: error 0.003";

/** The K at which the boundary `name` would lie at time t, from how it moves with K here. */
function whereAt(name, K, p1, now, t) {
  const more = flow("rare", Math.ceil(1.1 * K), p1).passed[name];
  const exponent = more ? Math.log(more.t / now) / Math.log(Math.ceil(1.1 * K) / K) : 2;
  return K * (t / now) ** (1 / Math.max(exponent, 0.5));
}

X.explorers.phases = {
  title: "the phases of training",
  presets: [
    {name: "a long wait", settings: {}},
    {name: "few features: a short one", settings: {K: 20}},
    {name: "very many: a very long one", settings: {K: 100000}},
    {name: "hardly dominant: no first phase", settings: {K: 12, p1: 0.1}},
  ],
  controls: [slider("K", "number of features ~K~", whole(12, 100000), 1000),
    slider("p1", "share of the dominant feature ~p~_{1}", even(0.1, 0.85, 0.01), 0.5)],
  panels: [
    {name: "Scores of a rare query, divided by log ~K~", folded: true, legend: [["~A~_{k}, on its target", "target"],
      ["~B~_{k,1}, on the dominant feature", "dominant"], ["~A~_{k} before your last move", "ghost"]]},
    {name: "Attention of a rare query", folded: true, legend: [["on its target", "target"],
      ["on the dominant feature", "dominant"], ["on all others together", "other"]]},
    {name: "Prediction error", legend: [["~ℒ~_{k}, rare query", "target"],
      ["~ℒ~_{1}, dominant query", "dominant"], ["~ℒ~_{k} before your last move", "ghost"]]},
  ],
  compute({K, p1}) {
    const rare = flow("rare", K, p1);
    const top = flow("dominant", K, p1);
    const log = Math.log(K);
    const {lead, overtake, half} = rare.passed;
    const at = (mark, key) => mark ? mark[key] : NaN;
    const [early, late] = [top.passed[0.01].t, rare.passed[0.01].t];
    const first = lead ? "" : " Here the target rises fastest from the start: there is no first phase.";
    return {rare, top, unit: K ** 2 / (1 - p1), log, rows: [
      ["lead", "~t~_{1}: unlearning (I) ends", at(lead, "t")],
      ["overtake", "~t~_{2}: creeping (II) ends", at(overtake, "t")],
      ["half", "~t~_{3}: take-off (III) ends", at(half, "t")],
      ["rare1", "rare error passes 0.1", rare.passed[0.1].t],
      ["rare2", "rare error passes 0.01", late],
      ["top2", "dominant error passes 0.01", early],
      ["B1lead", "~B~_{k,1}/log ~K~ at ~t~_{1}", at(lead, "B1") / log],
      ["Ahalf", "~A~_{k}/log ~K~ at ~t~_{3}", at(half, "A") / log],
      ["wait", "~t~_{3} in units of ~K~²/(1 − ~p~_{1})", at(half, "t") * (1 - p1) / K ** 2]],
      summary: `The dominant feature’s error passes 0.01 at ~t~ = ${show(early, 3)}, `
        + `a rare one’s at ${show(late, 3)}.${first}`};
  },
  draw([weights, scores, error], {K, p1}, {rare, top, unit, log, summary}, before) {
    const {lead, overtake, half} = rare.passed;
    const end = rare.points[rare.points.length - 1].t;
    const edges = [0, lead ? lead.t : 0, overtake ? overtake.t : 0, half.t, end];
    const phases = ["I", "II", "III", "IV"]
      .map((text, i) => ({from: edges[i], to: edges[i + 1], text})).filter(b => b.to > b.from);
    const bands = phases.map(b => ({...b, from: b.from / unit, to: b.to / unit}));
    const x = {label: "time, in units of ~K~²/(1 − ~p~_{1})", short: "time", range: [0, SPAN]};
    const line = (path, key, per, scale = 1) =>
      [...path.points.map(p => [p.t / per, p[key] / scale]), [LONGEST * 10, NaN]];
    const ghost = (key, per, scale) => before ? [{kind: "ghost",
      points: line(before.result.rare, key, per || before.result.unit, scale && before.result.log)}] : [];
    plot(weights, {
      label: "Scores of a rare query against time, with the phases as bands.",
      x, y: {range: [-1.5, 2]}, bands, lines: [...ghost("A", 0, true),
        {points: line(rare, "B1", unit, log), kind: "dominant", name: "on the dominant feature"},
        {points: line(rare, "A", unit, log), kind: "target", name: "on its target", ends: ENDS}]});
    plot(scores, {
      label: "Attention of a rare query against time: target, dominant feature, all others.",
      x, y: {log: true, range: [1e-5, 1.4]}, bands, lines: [
        {points: line(rare, "others", unit), kind: "other", name: "on all others"},
        {points: line(rare, "dominant", unit), kind: "dominant", name: "on the dominant feature"},
        {points: line(rare, "target", unit), kind: "target", name: "on its target"}]});
    const marks = Object.entries({lead, overtake, half}).filter(([, mark]) => mark)
      .map(([name, mark]) => ({at: mark.t, kind: "edge",
        drag: t => ({K: whereAt(name, K, p1, mark.t, t)})}));
    plot(error, {label: `Prediction errors of both queries against time. ${words(summary)}`,
      y: {log: true, range: [0.002, 1]}, bands: phases, marks,
      x: {label: "time ~t~ = ~η~ × steps", short: "~t~", log: true, range: [1, 10 * LONGEST]},
      lines: [...ghost("error", 1),
        {points: line(top, "error", 1), kind: "dominant", name: "dominant query"},
        {points: line(rare, "error", 1), kind: "target", name: "rare query"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
