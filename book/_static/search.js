/* The search page. Its places (window.bookPlaces) are made by claimbook.site.aids.search; nothing is requested. */
(() => {
"use strict";

const MOST = 40;        // results that are shown
const AROUND = 110;     // characters of an excerpt on each side of what was found
const TITLE = 40, KEY = 45, EXACT = 60, PHRASE = 12, WORD = 1, OFTEN = 6;

/** Text as it is compared: no case, no circumflex (w^* is w*), one kind of quotation mark, Greek by its letters. */
const GREEK = {alpha: "α", beta: "β", gamma: "γ", kappa: "κ", lambda: "λ", nu: "ν", rho: "ρ", sigma: "σ", tau: "τ"};
const plain = text => text.toLowerCase().replaceAll("^", "").replace(/[“”"]/g, "").replace(/\s+/g, " ").trim();
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** A word without the ending that its other forms have not: "teaching" finds teach and teaches, a plural the singular. */
const ENDING = /(?<=[a-z]{5})(?:ing|ed)$|(?<=[a-z]{4})(?<!s)s$/;
/** Where a word, or another form of it, begins in a text. */
const start = word => {
  const stem = word.replace(ENDING, "");
  const forms = [stem, GREEK[word]].filter(Boolean).map(escaped).join("|");
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})`, "giu");
};

const places = (window.bookPlaces || []).map(place => ({
  ...place,
  name: plain(place.title),
  names: place.keys.map(plain),
  low: plain(place.text),
}));

/** What a place is worth for a query; 0 where a word of it is not there. */
function worth(place, query, words) {
  let score = 0;
  for (const word of words) {
    const inName = place.name.match(word), inKeys = place.names.some(key => key.search(word) >= 0);
    const inText = place.low.match(word);
    if (!inName && !inKeys && !inText) return 0;
    if (inName) score += PHRASE;
    if (inKeys) score += PHRASE;
    score += WORD * Math.min(OFTEN, inText ? inText.length : 0);
  }
  const whole = start(query);
  if (place.low.search(whole) >= 0) score += PHRASE;
  if (place.name.search(whole) >= 0) score += TITLE;
  if (place.names.some(key => key.search(whole) >= 0)) score += KEY;
  if (place.name === query || place.names.includes(query)) score += EXACT;
  return score * place.weight;
}

/** A text with what was found in it marked. */
function marked(text, pattern) {
  const out = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    const mark = document.createElement("mark");
    mark.textContent = found[0];
    out.append(text.slice(from, found.index), mark);
    from = found.index + found[0].length;
  }
  out.append(text.slice(from));
  return out;
}

function excerpt(place, query, words) {
  const patterns = [start(query), ...words];
  const found = patterns.map(pattern => place.text.search(pattern)).find(at => at >= 0) ?? 0;
  let from = Math.max(0, found - AROUND);
  if (from > 0) from = place.text.indexOf(" ", from) + 1;
  let to = found + 2 * AROUND;
  if (to < place.text.length) to = place.text.lastIndexOf(" ", to);
  const shown = (from > 0 ? "… " : "") + place.text.slice(from, to) + (to < place.text.length ? " …" : "");
  const all = words.map(pattern => pattern.source.replace("(?<![\\p{L}\\p{N}])", ""));
  return marked(shown, new RegExp(`(?<![\\p{L}\\p{N}])(?:${all.join("|")})`, "giu"));
}

function item(place, query, words) {
  const line = document.createElement("li"), link = document.createElement("a");
  link.href = place.address;
  link.textContent = place.title;
  line.append(link);
  if (place.within !== place.title) {
    const where = document.createElement("span");
    where.className = "search-within";
    where.textContent = place.within;
    line.append(" ", where);
  }
  if (place.text) {
    const words_ = document.createElement("p");
    words_.append(excerpt(place, query, words));
    line.append(words_);
  }
  return line;
}

function show(text) {
  const query = plain(text);
  const words = query.split(" ").filter(Boolean).map(start);
  const list = document.getElementById("search-results"), status = document.getElementById("search-status");
  list.replaceChildren();
  if (!query) { status.textContent = "A word, a letter of a formula, a figure of a paper (“Figure 5”) or the name of a claim."; return; }
  const found = places
    .map(place => ({place, score: worth(place, query, words)}))
    .filter(one => one.score > 0)
    .sort((a, b) => b.score - a.score);
  list.append(...found.slice(0, MOST).map(one => item(one.place, query, words)));
  const count = found.length === 1 ? "1 place" : `${found.length} places`;
  const first = found.length > MOST ? `, the first ${MOST} below` : "";
  status.textContent = found.length
    ? `“${text.trim()}”: ${count}${first}.`
    : `Nothing has all the words of “${text.trim()}”. Fewer words, or the glossary, may help.`;
}

const form = document.querySelector(".bd-search-container form");
const field = form.querySelector("input");
field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", () => {
  history.replaceState(null, "", field.value ? `?q=${encodeURIComponent(field.value)}` : location.pathname);
  show(field.value);
});
form.addEventListener("submit", event => { event.preventDefault(); show(field.value); });
show(field.value);
field.focus();
})();
