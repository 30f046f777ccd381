/* A note beside the cross-reference that is pointed at (by mouse) or reached (by keyboard): the figure, formula, theorem,
   term or claim it leads to. The notes are scripts of the site (claimbook.site.aids.previews), so that they work from
   files; one is loaded when the first link to its page is pointed at. Escape puts a note away; touch never opens one. */
(() => {
"use strict";

const WAIT = 300;    // milliseconds before a note comes
const STAY = 250;    // and before it goes, so that the pointer can reach it
const GAP = 8;       // pixels between link and note, and to the edge of the window
const root = new URL("..", document.currentScript.src);
const loading = new Map();
let note = null, owner = null, coming = 0, going = 0;

/** The page of a link as Sphinx names it, from the root of the site. */
const pageOf = url => decodeURIComponent(url.pathname.slice(root.pathname.length)).replace(/\.html$/, "");

function previews(page) {
  if (!loading.has(page)) {
    loading.set(page, new Promise(done => {
      const script = document.createElement("script");
      script.src = new URL(`_previews/${page}.js`, root);
      script.onload = () => done((window.bookPreviews || {})[page] || {});
      script.onerror = () => done({});
      document.head.append(script);
    }));
  }
  return loading.get(page);
}

/** A preview as it can stand on this page: addresses from its own page, nothing in it that can be reached. */
function fitted(text, url) {
  const piece = document.createElement("template");
  piece.innerHTML = text;
  for (const image of piece.content.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), url);
  for (const link of piece.content.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  for (const e of piece.content.querySelectorAll("[id]")) e.removeAttribute("id");
  for (const e of piece.content.querySelectorAll("[tabindex], [role]")) { e.removeAttribute("tabindex"); e.removeAttribute("role"); }
  return piece.content;
}

function hide() {
  clearTimeout(coming);
  clearTimeout(going);
  if (!note) return;
  note.remove();
  owner.removeAttribute("aria-describedby");
  if (owner.dataset.title) owner.title = owner.dataset.title;
  note = owner = null;
}

function place() {
  const box = owner.getClientRects()[0] || owner.getBoundingClientRect();
  const wide = document.documentElement.clientWidth, high = document.documentElement.clientHeight;
  const size = note.getBoundingClientRect();
  const below = box.bottom + GAP + size.height <= high || box.top < high - box.bottom;
  note.style.maxHeight = `${(below ? high - box.bottom : box.top) - 2 * GAP}px`;
  const height = note.getBoundingClientRect().height;
  note.style.left = `${Math.max(GAP, Math.min(box.left, wide - size.width - GAP))}px`;
  note.style.top = `${below ? box.bottom + GAP : box.top - GAP - height}px`;
}

async function show(link) {
  const url = new URL(link.href), of = await previews(pageOf(url));
  const text = of[decodeURIComponent(url.hash.slice(1))];
  if (!text || !(link.matches(":hover") || link === document.activeElement)) return;
  hide();
  owner = link;
  note = document.createElement("div");
  note.id = "preview";
  note.className = "preview";
  note.setAttribute("role", "tooltip");
  note.append(fitted(text, url));
  if (owner.title) { owner.dataset.title = owner.title; owner.removeAttribute("title"); }
  note.addEventListener("pointerenter", () => clearTimeout(going));
  note.addEventListener("pointerleave", later);
  document.querySelector("main").append(note);  // every word of a page stands in a landmark
  for (const image of note.querySelectorAll("img")) image.addEventListener("load", () => note && place());
  place();
  owner.setAttribute("aria-describedby", "preview");
}

function later() {
  clearTimeout(coming);
  clearTimeout(going);
  going = setTimeout(hide, STAY);
}

function soon(link) {
  clearTimeout(going);
  clearTimeout(coming);
  if (link !== owner) coming = setTimeout(() => show(link), WAIT);
}

const linkOf = event => {
  const link = event.target.closest?.(".bd-article a[href*='#']:not(.headerlink)");
  return link && link.href.startsWith(root.href) ? link : null;
};

document.addEventListener("pointerover", event => {
  const link = event.pointerType === "touch" ? null : linkOf(event);
  if (link) soon(link);
});
document.addEventListener("pointerout", event => { if (linkOf(event)) later(); });
document.addEventListener("focusin", event => {
  const link = linkOf(event);
  if (link && link.matches(":focus-visible")) soon(link); else if (note && !note.matches(":hover")) hide();
});
document.addEventListener("focusout", event => { if (linkOf(event)) later(); });
document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
addEventListener("resize", hide);
addEventListener("scroll", () => { if (note) place(); }, {passive: true});
})();
