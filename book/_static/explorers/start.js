/* Start-up: builds each explorer of the page, arms the buttons in its sentences, and opens the
   explorer that the address names.

   The explorers are classic scripts on one namespace, iclExplorers: no modules and no requests, so
   that they work from file:// too. claimbook/site/lecture.py puts all of them into one file, for
   the pages that show an explorer:

     numbers      grids, a minimum, log Gamma, uniform and normal numbers
     text         numbers as words; nodes of the page and of a drawing
     plot, probe  axes and curves in a panel; reading values from them, pulling their marks
     controls     sliders and choices, the grids of their values, those that several explorers share
     fields       the controls as they stand on the page
     form         presets, the link to the settings, the list of numbers, how all are put together
     frame        one explorer: panels, sentence, controls
     *_theory     a tower's formulas: window, regression, stages
     one file for each explorer: iclExplorers.explorers[name] = its spec (frame.js says of what)
     train_define, _random, _matrices, _head     what the numerics of trainings share
     train_NAME   the steps of a training, which a worker takes; train_NAME_view shows them
     train_run, _player, _frame, _charts, _heat  a run and its records, its controls, its pictures
     start        this file, last

   tests/explorers holds them against the package. */
((X) => {
"use strict";

const {make, reveal} = X;

/** A button that leads back to the sentence `from`; it goes when the sentence is in sight again. */
function offerWayBack(from) {
  document.querySelector(".x-back")?.remove();
  const back = make("button", {type: "button", class: "x-back"}, "Back to the text");
  const height = from.getBoundingClientRect().top;
  back.addEventListener("click", () => {
    from.focus({preventScroll: true});
    scrollBy(0, from.getBoundingClientRect().top - height);
    back.remove();
  });
  let left = false;
  new IntersectionObserver(([{isIntersecting}], seen) => {
    left ||= !isIntersecting;
    if (!left || !isIntersecting) return;
    back.remove();
    seen.disconnect();
  }).observe(from);
  from.after(back);
}

/** A button in the place of words of a sentence: "window?L=5" sets that explorer. */
function arm(words, built) {
  const [name, query] = words.dataset.set.split("?");
  const look = {type: "button", class: "x-set", "data-set": words.dataset.set};
  const button = make("button", look, ...words.childNodes);
  button.addEventListener("click", () => {
    const {stage, steer} = built.get(name);
    const {top, bottom} = stage.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) offerWayBack(button);
    steer(new URLSearchParams(query));
    reveal(stage);
  });
  words.replaceWith(button);
}

/** Build them one after the other, so that the page is never held for long. */
async function begin() {
  const built = new Map();
  for (const place of document.querySelectorAll(".explorer[data-explorer]")) {
    const training = X.explorers[place.dataset.explorer].model;
    const [name, explorer] = training ? X.train(place) : X.build(place);
    built.set(name, explorer);
    await new Promise(done => setTimeout(done));
  }
  X.arm = words => arm(words, built);
  document.querySelectorAll("[data-set]").forEach(X.arm);
  const arrive = () => {                            // at a link, #explorer-window?n=1000&…
    const [, name, query] = location.hash.match(/^#explorer-(\w+)\?(.*)$/) || [];
    if (!built.has(name)) return;
    const {stage, restore} = built.get(name);
    reveal(stage);
    stage.parentElement.scrollIntoView();
    restore(new URLSearchParams(query));
  };
  arrive();
  window.addEventListener("hashchange", arrive);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
})(globalThis.iclExplorers);
