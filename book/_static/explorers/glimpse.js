/* The front page's picture: two windows that narrow while their heads learn.

   Gradient flow of w from 0 on the closed-form loss of window_theory.js: one number moves, so the
   time of a window is an integral. Runs once it is seen, unless the system asks for less motion. */
((X) => {
"use strict";
const {even, kept, make, plot, population, show, tokens, widthOf, words} = X;
const TRAIN = "chapters/01_attention_window.html#explorer-train_window?play=1";
const SETTING = {family: "affine", d: 3, n: 400, sigma: 0.3};
const STEEP = 2;
const FLAT = 0.3;
const FRAMES = 120;
const LASTS = 7000;                                 // ms from the first frame to the last
const FIRST = 0.3;                                  // time of the first frame but one
const CLOSE = 0.005;                                // of w*: where the flow is taken to have arrived
const PATH = 400;

/** The flow from 0 to just before w*: [time, w], for tasks of steepness L. */
const flowOfWindow = kept(4, L => {
  const {family, d, n, sigma} = SETTING;
  const model = population(family, d, n, L, sigma, "closed");
  const end = model.best().w;
  const speed = w => {
    const h = 1e-4 * (1 + w);
    const below = Math.max(w - h, 0);
    return (model.at(below).loss - model.at(w + h).loss) / (w + h - below);
  };
  // dense at the start, and as many points for each factor of the distance that is left
  const ws = Array.from({length: PATH + 1}, (_, i) => end * (1 - CLOSE ** ((i / PATH) ** 2)));
  let t = 0;
  const path = [[0, 0]];
  for (let i = 1; i <= PATH; i++) {
    const [a, b] = [ws[i - 1], ws[i]];
    const middle = 4 / speed((a + b) / 2);          // Simpson's rule
    t += (b - a) / 6 * (1 / speed(a) + middle + 1 / speed(b));
    path.push([t, b]);
  }
  return {path, end};
});

/** The window at a time; the last one after the flow's end. */
function windowAt(L, time) {
  const {path} = flowOfWindow(L);
  const i = path.findIndex(([t]) => t >= time);
  if (i <= 0) return i < 0 ? path[PATH][1] : 0;
  const [[a, wa], [b, wb]] = [path[i - 1], path[i]];
  return wa + (wb - wa) * (time - a) / (b - a);
}

/** The time of a frame: 0, then even in its logarithm up to the slower head's end. */
function timeOf(frame) {
  if (frame === 0) return 0;
  const last = Math.max(...[STEEP, FLAT].map(L => flowOfWindow(L).path[PATH][0]));
  return FIRST * (last / FIRST) ** ((frame - 1) / (FRAMES - 1));
}

/** The angle at which a token counts half as much as one at the query; none beyond 180. */
const halfAngle = w => Math.acos(Math.max(1 - Math.LN2 / w, -1)) * 180 / Math.PI;
const bell = w => even(0, 180, 1).map(a => [a, Math.exp(w * (Math.cos(a * Math.PI / 180) - 1))]);
const reach = w => w < Math.LN2 / 2 ? "beyond 180" : show(halfAngle(w), 2);
/** A line where an example counts half as much as one at the question, named where there is room. */
const edge = (w, kind, named) => ({kind, at: w < Math.LN2 / 2 ? NaN : halfAngle(w),
  text: named ? `${reach(w)}°` : " "});

X.explorers.glimpse = {
  title: "a window that narrows",
  small: true,
  controls: [X.slider("frame", "training", even(0, FRAMES, 1), FRAMES,
    frame => frame === 0 ? "not begun" : frame === FRAMES ? "finished"
      : `${Math.round(100 * frame / FRAMES)} %`)],
  panels: [{name: "How much an example counts, by its angle to the question", height: 210,
    legend: [["head for steep tasks", "softmax"], ["for flat tasks", "target"],
      ["best windows", "dotted"], ["sticks: examples in a prompt", "softmax x-stick"]]}],
  compute({frame}) {
    const time = timeOf(frame);
    const [steep, flat] = [STEEP, FLAT].map(L => windowAt(L, time));
    return {steep, flat, rows: [["steep", "window, steep tasks", steep],
      ["flat", "window, flat tasks", flat], ["time", "time", time]],
    summary: frame === 0 ? "Before training there is no window: every example counts alike."
      : `The window reaches ${reach(steep)}° from the question where tasks are steep and `
        + `${reach(flat)}° where they are flat. At its edge an example counts half as much as one at `
        + "the question."};
  },
  draw([panel], _, {steep, flat, summary}) {
    const shown = tokens(SETTING.n, SETTING.d).slice(0, 150)
      .map(t => Math.acos(t) * 180 / Math.PI);
    const heights = shown.map(a => [a, Math.exp(steep * (Math.cos(a * Math.PI / 180) - 1))]);
    const apart = (halfAngle(flat) - halfAngle(steep)) * widthOf(panel) > 180 * 40; // pixels
    plot(panel, {label: `Attention against angle for two heads. ${words(summary)}`,
      x: {label: "angle between example and question (degrees)", short: "angle", range: [0, 180]},
      y: {range: [0, 1.05], ticks: [0, 0.5, 1]},
      lines: [{points: heights, kind: "softmax", sticks: true},
        ...[[STEEP, "softmax"], [FLAT, "target"]].map(([L, kind]) => (
          {points: bell(flowOfWindow(L).end), kind: `${kind} x-dotted`})),
        {points: bell(flat), kind: "target", name: "flat tasks"},
        {points: bell(steep), kind: "softmax", name: "steep tasks"}],
      marks: [edge(steep, "softmax", apart), edge(flat, "target", apart)]});
  },
  begin({root, state, move, taken, plays}) {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    const button = make("button", {type: "button", class: "x-reset x-play"}, "Play");
    const train = make("a", {class: "x-reset x-train", href: TRAIN}, "Train one yourself");
    root.querySelector("form").append(button, train);
    button.hidden = still.matches;
    let running = 0;
    let begun = 0;
    let from = 0;
    function stop() {
      cancelAnimationFrame(running);
      running = 0;
      plays(false);
      button.textContent = state.frame === FRAMES ? "Play again" : "Play";
    }
    function tick(now) {
      const frame = Math.min(FRAMES, from + Math.floor((now - begun) / LASTS * FRAMES));
      if (frame !== state.frame) move({frame});
      if (frame < FRAMES) running = requestAnimationFrame(tick);
      else stop();
    }
    function play() {
      from = state.frame === FRAMES ? 0 : state.frame;
      begun = performance.now();
      button.textContent = "Pause";
      plays(true);
      running = requestAnimationFrame(tick);
    }
    button.addEventListener("click", () => running ? stop() : play());
    taken(stop);                                    // whoever takes the slider stops the run
    const seen = new IntersectionObserver(entries => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      seen.disconnect();
      if (!still.matches) play();
    }, {threshold: 0.6});
    seen.observe(root);
  },
};
Object.assign(X, {windowAt});
})(globalThis.iclExplorers ??= {explorers: {}});
