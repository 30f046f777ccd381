/* The opening picture of chapter 5c: both errors of linear attention against the number of tasks. */
((X) => {
"use strict";
const {descentErrors, logspace, plain, plot, round, settled, show, slider, words} = X;
const LEAST = 0.1;
const MOST = 50;
const [ALPHA, RHO, RIDGE] = [10, 0.01, 1e-5];  // length of prompts over d, noise, ridge
const KAPPAS = logspace(LEAST, MOST, 161);

X.explorers.diversity = {
  title: "a list of tasks",
  small: true,
  presets: [
    {name: "many prompts", settings: {}},
    {name: "few prompts", settings: {tau: 0.3}},
    {name: "slightly more prompts than weights", settings: {tau: 1.2}},
  ],
  controls: [slider("kappa", "tasks on the list, ~κ~ = ~k~/~d~", round(LEAST, MOST), 0.5),
    slider("tau", "practice prompts, ~τ~ = ~n~/~d~²", round(0.1, 20), 5)],
  panels: [{name: "Test errors against the number of tasks on the list", height: 280, legend: [
    ["~e~_{ICL}, new tasks", "ICL"], ["~e~_{IDG}, practised tasks", "IDG"],
    ["1 + ~ρ~: answering 0", "thin"]]}],
  compute({kappa, tau}) {
    const error = at => descentErrors(ALPHA, at, tau, RHO, RIDGE);
    const here = error(kappa);
    const found = KAPPAS.map(error);
    const curve = name => KAPPAS.map((at, i) => [at, found[i][name]]);
    const level = here.icl < 1 + RHO ? "better" : "worse";
    return {here, icl: curve("icl"), idg: curve("idg"), rows: [
      ["icl", "~e~_{ICL}, new tasks", here.icl], ["idg", "~e~_{IDG}, practised tasks", here.idg],
      ["gap", "gap ~e~_{ICL} − ~e~_{IDG}", settled(here.icl - here.idg, here.icl)]],
      summary: `With ${plain(kappa)} tasks per dimension it errs by ${show(here.idg, 2)} on `
        + `practised tasks and by ${show(here.icl, 2)} on new ones, ${level} than answering 0.`};
  },
  draw([panel], {kappa}, {here, icl, idg, summary}) {
    plot(panel, {label: `Both test errors against kappa. ${words(summary)}`,
      x: {label: "~κ~ = tasks / ~d~", short: "~κ~", log: true, range: [LEAST, MOST]},
      y: {label: "test error", log: true, range: [0.01, 10]},
      lines: [{points: [[LEAST, 1 + RHO], [MOST, 1 + RHO]], kind: "thin"},
        {points: idg, kind: "IDG", name: "practised tasks"},
        {points: icl, kind: "ICL", name: "new tasks"}],
      marks: [{at: kappa, text: `~κ~ = ${plain(kappa)}`, drag: "kappa"}],
      dots: [{at: [kappa, here.idg], kind: "IDG"}, {at: [kappa, here.icl], kind: "ICL"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
