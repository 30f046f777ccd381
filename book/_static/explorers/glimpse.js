/* The front page's picture: a head that learns how far from a question to look.

   The examples of one prompt lie on a circle, which is unrolled. Gradient flow of w from 0 on the
   closed-form loss of window_theory.js, over all prompts with this steepness and noise: one number
   moves, so the time of a window is an integral. Runs once it is seen, unless the system asks for
   less motion. */
((X) => {
"use strict";
const {even, kept, make, normal, plot, population, show, sum, uniform, words} = X;
const TRAIN = "chapters/01_attention_window.html#explorer-train_window?play=1";
const SETTING = {family: "affine", d: 2, n: 60, sigma: 1};
const STEEP = 4;
const PEAK = 60;                                    // degrees, where the shown rule is highest
const QUESTION = 0;                                 // degrees, where the prompt asks
const FRAMES = 120;
const LASTS = 7000;                                 // ms from the first frame to the last
const FIRST = 0.05;                                 // time of the first frame but one
const CLOSE = 0.005;                                // of w*: where the flow is taken to have arrived
const PATH = 400;
const radians = degrees => degrees * Math.PI / 180;
const truth = at => STEEP * Math.cos(radians(at - PEAK));

/** The examples of the shown prompt: place in degrees, and noisy answer; always the same. */
const EXAMPLES = (() => {
  const place = uniform(7);
  const fault = normal(uniform(11));
  return Array.from({length: SETTING.n}, () => {
    const at = 360 * place() - 180;
    return [at, truth(at) + SETTING.sigma * fault()];
  });
})();

/** The head's answer to a question at a place: near examples count more. */
function answerAt(at, w) {
  const weights = EXAMPLES.map(([x]) => Math.exp(w * (Math.cos(radians(x - at)) - 1)));
  return sum(weights.map((weight, i) => weight * EXAMPLES[i][1])) / sum(weights);
}

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

/** The time of a frame: 0, then even in its logarithm up to the flow's end. */
function timeOf(frame) {
  if (frame === 0) return 0;
  const last = flowOfWindow(STEEP).path[PATH][0];
  return FIRST * (last / FIRST) ** ((frame - 1) / (FRAMES - 1));
}

/** The angle at which an example counts half as much as one at the question, at most 180. */
const halfAngle = w => w < Math.LN2 / 2 ? 180 : Math.acos(1 - Math.LN2 / w) * 180 / Math.PI;

X.explorers.glimpse = {
  title: "a head that learns how far to look",
  small: true,
  controls: [X.slider("frame", "training", even(0, FRAMES, 1), FRAMES,
    frame => frame === 0 ? "not begun" : frame === FRAMES ? "finished"
      : `${Math.round(100 * frame / FRAMES)} %`)],
  panels: [{name: "Examples, and what the head answers", height: 230,
    legend: [["the head’s answer", "softmax"], ["the hidden rule", "exact"],
      ["examples", "other", true]]}],
  compute({frame}) {
    const time = timeOf(frame);
    const w = windowAt(STEEP, time);
    const reach = halfAngle(w);
    const curve = even(-180, 180, 3).map(at => [at, answerAt(at, w)]);
    const far = reach < 180 ? `${show(reach, 2)}°` : "";
    return {w, reach, far, curve, rows: [["window", "window", w], ["time", "time", time]],
      summary: frame === 0 ? "Before training all examples count the same: the answer is their average."
        : far ? `The head looks ${far} to either side: an example that far away counts half as much as `
            + "one at the question."
          : "The head still looks everywhere, a little less at what is far away."};
  },
  draw([panel], _, {w, reach, far, curve, summary}) {
    plot(panel, {label: `Examples and the head’s answers against the place asked. ${words(summary)}`,
      x: {label: "place on a circle (degrees)", short: "place", range: [-180, 180],
        ticks: [-180, -90, 0, 90, 180]},
      y: {label: "answer", range: [-7, 7], ticks: [-5, 0, 5]},
      lines: [{points: even(-180, 180, 3).map(at => [at, truth(at)]), kind: "exact",
        name: "hidden rule"}, {points: curve, kind: "softmax", name: "answer"}],
      bands: [{from: QUESTION - reach, to: QUESTION + reach, text: ""}],
      marks: [{at: QUESTION, text: far ? `question: looks ${far} either way` : "question: looks everywhere"}],
      dots: [...EXAMPLES.map(at => ({at, kind: "other"})),
        {at: [QUESTION, answerAt(QUESTION, w)], kind: "softmax"}]});
  },
  begin({root, state, move, taken, plays}) {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    const button = make("button", {type: "button", class: "x-reset x-play"}, "Play");
    const train = make("a", {class: "x-reset x-train", href: TRAIN},
      "Train one yourself (chapter 1)");
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
