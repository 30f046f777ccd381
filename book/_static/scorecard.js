/* Filters over the rows on the page of the ledger (claimbook/site/templates/ledger.html, card.html). The choice is
   kept in the address, as in #claims?verdict=fails&source=collins2024&words=window, so that it can be linked to. */
(() => {
"use strict";
const KINDS = ["verdict", "origin", "source", "chapter", "reading"];
const GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
  "omicron", "pi", "rho", "sigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"];

/** A text as it is sought: small letters, of Greek ones the names, a space for a hyphen, no s of a plural. */
globalThis.plainWords = text => text.normalize("NFKD").toLowerCase().replace(/[-\u2010-\u2014]/g, " ")
  .replace(/[α-ω]/g, letter => ` ${GREEK[letter.charCodeAt(0) - 0x3b1]}`).replace(/(\p{L}{2,}[^\P{L}s])s(?!\p{L})/gu, "$1");
const plain = text => plainWords(text.replace(/[_^]/g, ""));

/** Cards far off the window are not laid out; the letters that only they use would be missing on paper. */
function bringLetters() {
  if (document.querySelector(".claim"))
    document.fonts.forEach(face => { if (face.family.includes("KaTeX")) face.load().catch(() => {}); });
}
window.addEventListener("load", bringLetters);

/** A row is text until it is opened, and elements from then on. */
document.addEventListener("toggle", event => {
  const kept = event.target.matches("details.claim") && event.target.querySelector(":scope > noscript");
  if (kept) kept.outerHTML = kept.textContent;
}, true);

/** All words of a row, those that are still kept as text too. */
function wordsOf(node) {
  const kept = node.querySelector("noscript");
  if (!kept) return node.textContent;
  const shown = [...node.childNodes].map(child => child.contains(kept) ? "" : child.textContent).join(" ");
  return shown + " " + new DOMParser().parseFromString(kept.textContent, "text/html").body.textContent;
}

function begin() {
  const bar = document.querySelector(".score-filters");
  if (!bar) return;
  const field = bar.querySelector(".score-words");
  const groups = [...document.querySelectorAll(".score-group")];
  const rows = groups.flatMap(group => [...group.querySelectorAll("details.claim")].map(node => ({node, group, text: "", found: true,
    ...node.dataset, verdict: node.querySelector(".verdict").className.replace("verdict verdict-", "")})));
  const buttons = [...bar.querySelectorAll("button[data-kind]")], said = bar.querySelector(".score-status");
  const clear = bar.querySelector(".score-clear"), known = Object.fromEntries(KINDS.map(kind =>
    [kind, new Set(buttons.filter(b => b.dataset.kind === kind).map(b => b.dataset.value))]));
  const wordsIn = row => row.text || (row.text = plain(wordsOf(row.node) + " " + row.node.id));
  const fits = (row, choice, but) => KINDS.every(kind => kind === but || !choice[kind] || row[kind] === choice[kind])
    && (!choice.words || row.found);
  /** From the beginning of a word; a number to its end, so that 5 is not 50. */
  const start = words => new RegExp("(?:^|[^\\p{L}\\p{N}])" + words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    + (/\d$/.test(word) ? "(?!\\d)" : "")).join("\\s+"), "u");
  const plural = n => `${n} ${n === 1 ? "claim" : "claims"}`;
  let choice = {}, together = false, speaking = 0;

  /** Note which rows have the words: where some have them next to each other, only those. */
  function seek(text = "") {
    const words = plain(text).split(/\s+/).filter(Boolean), phrase = start(words);
    together = words.length > 1 && rows.some(row => phrase.test(wordsIn(row)));
    const asked = together ? [phrase] : words.map(word => start([word]));
    for (const row of rows) row.found = asked.every(each => each.test(wordsIn(row)));
  }

  function show(speak) {
    const chosen = Boolean(choice.words) || KINDS.some(kind => choice[kind]), shown = rows.filter(row => fits(row, choice));
    for (const row of rows) row.node.hidden = !fits(row, choice);
    for (const group of groups) group.closest("section").hidden = !shown.some(row => row.group === group);
    for (const button of buttons) {
      const {kind, value} = button.dataset, n = rows.filter(row => row[kind] === value && fits(row, choice, kind)).length;
      button.setAttribute("aria-pressed", String(choice[kind] === value));
      button.querySelector(".score-count").textContent = n;
      button.classList.toggle("score-empty", n === 0);
    }
    clear.hidden = !chosen;
    clearTimeout(speaking);
    const where = choice.words && together ? ", with these words together" : "";
    const words = chosen ? `${shown.length} of ${plural(rows.length)} shown${where}` : `all ${plural(rows.length)}, folded`;
    speaking = setTimeout(() => { said.textContent = words; }, speak ? 150 : 0);
  }

  function address() {
    const query = new URLSearchParams([...KINDS, "words"].filter(kind => choice[kind]).map(kind => [kind, choice[kind]])).toString();
    return query ? `#claims?${query}` : location.pathname + location.search;
  }

  /** The choice that an address names: #claims?… */
  function read(hash) {
    const found = {}, query = new URLSearchParams(hash.startsWith("#claims?") ? hash.slice(8) : "");
    if (query.get("words")) found.words = query.get("words");
    for (const kind of KINDS) if (known[kind].has(query.get(kind))) found[kind] = query.get(kind);
    return found;
  }

  function choose(next) {
    choice = next;
    history.replaceState(null, "", address());
    show(true);
  }

  for (const button of buttons) button.addEventListener("click", () => {
    const {kind, value} = button.dataset;
    choose({...choice, [kind]: choice[kind] === value ? "" : value});
  });
  field.addEventListener("input", () => { seek(field.value); choose({...choice, words: field.value.trim()}); });
  clear.addEventListener("click", () => { field.value = ""; choose({}); field.focus(); });
  /** Rows off the window have an estimated height until they are laid out, which moves what follows them. */
  const reach = (target, again) => {
    target.scrollIntoView();
    if (again) requestAnimationFrame(() => reach(target, again - 1));
  };
  const arrive = () => {
    const found = read(location.hash);
    if (Object.keys(found).length) { choice = found; field.value = found.words || ""; seek(found.words); show(true); bar.scrollIntoView(); }
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1))), unseen = target?.closest("[hidden]");
    if (unseen) { choice = {}; field.value = ""; show(true); }
    if (target?.matches("details.claim")) target.open = true;
    if (unseen || target?.open) reach(target, 5);
  };
  show(false);
  arrive();
  window.addEventListener("hashchange", arrive);
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
