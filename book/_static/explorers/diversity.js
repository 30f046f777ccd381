/* The opening picture of chapter 5c: both errors of linear attention against the number of tasks. */
((X) => {
"use strict";
const {descentErrors, logspace, plain, plot, round, show, slider, words} = X;
const LEAST = 0.1;
const MOST = 50;
const [ALPHA, RHO, RIDGE] = [10, 0.01, 1e-5];  // length of prompts over d, noise, ridge
const KAPPAS = logspace(LEAST, MOST, 161);

X.explorers.diversity = {
  title: "a list of tasks",
  small: true,
  controls: [slider("kappa", "tasks on the list, per dimension", round(LEAST, MOST), 0.5),
    slider("tau", "practice prompts, per weight of the layer", round(0.1, 20), 5)],
  panels: [{name: "Test errors against the number of tasks on the list", height: 280, legend: [
    ["new tasks", "ICL"], ["practised tasks", "IDG"], ["answering 0", "thin"]]}],
  compute({kappa, tau}) {
    const error = at => descentErrors(ALPHA, at, tau, RHO, RIDGE);
    const here = error(kappa);
    const found = KAPPAS.map(error);
    const curve = name => KAPPAS.map((at, i) => [at, found[i][name]]);
    const level = here.icl < 1 + RHO ? "below" : "above";
    return {here, icl: curve("icl"), idg: curve("idg"), rows: [
      ["icl", "error on new tasks", here.icl], ["idg", "error on practised tasks", here.idg]],
      summary: `With ${plain(kappa)} tasks per dimension the layer's error is ${show(here.idg, 2)} on `
        + `practised tasks and ${show(here.icl, 2)} on new ones, ${level} that of answering 0.`};
  },
  draw([panel], {kappa}, {here, icl, idg, summary}) {
    plot(panel, {label: `Both errors against the length of the list. ${words(summary)}`,
      x: {label: "tasks on the list, per dimension", short: "tasks per dimension", log: true, range: [LEAST, MOST]},
      y: {label: "error", log: true, range: [0.01, 30]},
      lines: [{points: [[LEAST, 1 + RHO], [MOST, 1 + RHO]], kind: "thin"},
        {points: idg, kind: "IDG", name: "practised tasks"},
        {points: icl, kind: "ICL", name: "new tasks"}],
      marks: [{at: kappa, drag: "kappa"}],
      dots: [{at: [kappa, here.idg], kind: "IDG"}, {at: [kappa, here.icl], kind: "ICL"}]});
  },
};
})(globalThis.iclExplorers ??= {explorers: {}});
