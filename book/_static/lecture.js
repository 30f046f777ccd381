/* What a page does while it teaches: a mark opens the line of its verdict, a prediction is chosen before its answer is seen, and
   whatever is folded opens for a link that leads into it. Nothing is kept (claimbook/site: judged, lecture, cells). */
(() => {
"use strict";

/** Open all that a place is folded in; returns the place. */
function reveal(hash) {
  const place = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!place) return null;
  let opened = false;
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    opened ||= !fold.open;
    fold.open = true;
  }
  return opened ? place : null;
}
const follow = () => reveal(location.hash)?.scrollIntoView();

/* marks */
const marks = [...document.querySelectorAll("a.judged[data-line]")];
const lineOf = mark => document.getElementById(mark.dataset.line);

function show(mark, open) {
  lineOf(mark).hidden = !open;
  mark.setAttribute("aria-expanded", String(open));
}

for (const mark of marks) {
  const line = lineOf(mark);
  if (!line) continue;
  if (line.hidden) {
    mark.setAttribute("role", "button");
    mark.setAttribute("aria-controls", line.id);
    mark.setAttribute("aria-expanded", "false");
  }
  mark.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (mark.hasAttribute("aria-expanded")) return show(mark, line.hidden);
    line.tabIndex = -1;
    line.focus();
  });
  mark.addEventListener("keydown", event => {
    if (event.key !== " " || !mark.hasAttribute("aria-expanded")) return;
    event.preventDefault();
    mark.click();
  });
}
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  globalThis.tippy?.hideAll({duration: 0});  // notes at cross-references
  for (const mark of marks.filter(each => each.getAttribute("aria-expanded") === "true")) {
    if (lineOf(mark).contains(document.activeElement)) mark.focus();
    show(mark, false);
  }
});

/* predictions */
const predictions = [...document.querySelectorAll(".prediction")].filter(each => each.querySelector("details.prediction-rest"));
for (const prediction of predictions) {
  const rest = prediction.querySelector("details.prediction-rest"), said = document.createElement("p");
  said.className = "prediction-said";
  said.setAttribute("role", "status");
  rest.before(said);
  const buttons = [...prediction.querySelectorAll(".prediction-answers > li")].map(item => {
    const button = document.createElement("button"), words = item.querySelector("p") || item;
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.append(...words.childNodes);
    item.replaceChildren(button);
    return button;
  });
  for (const button of buttons) button.addEventListener("click", () => {
    for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
    said.replaceChildren("You said: ", ...[...button.childNodes].map(node => node.cloneNode(true)), ".");
    rest.open = true;
  });
  rest.addEventListener("toggle", () => { if (rest.open) dispatchEvent(new Event("resize")); });  // pictures in it get their width
  rest.open = false;
}
let closed = [];
addEventListener("beforeprint", () => {  // paper cannot be unfolded
  closed = [...document.querySelectorAll("article details:not([open])")];
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });

addEventListener("hashchange", follow);
document.addEventListener("click", event => {  // the same address again
  const link = event.target.closest?.("a[href^='#']");
  if (link && !event.defaultPrevented && link.hash === location.hash) follow();
});
follow();
})();
