/* Sphinx's search as readers ask it (html_search_scorer): hyphens, plurals and Greek letters as in the ledger's filter
   (scorecard.js), a claim by its id, a chapter before the module that serves it, a way to all claims with the words. */
{
  const parse = Search._parseQuery, plain = text => (globalThis.plainWords ?? String)(text).trim();
  let asked = "";
  Search._parseQuery = query => {
    asked = plain(query);
    return parse(Object.keys(Search._index.alltitles).find(title => plain(title) === asked) ?? asked);
  };
  Scorer.score = ([page, title, , , score]) => score + 99 * (plain(title) === asked) - 25 * page.startsWith("book/reference/")
    + 12 * (page.startsWith("book/chapters/") && !page.endsWith("_specialist"));
}
document.addEventListener("DOMContentLoaded", () => {
  const asked = new URLSearchParams(location.search).get("q"), found = document.getElementById("search-results");
  if (!asked || !found) return;
  const way = document.createElement("p"), link = document.createElement("a");
  link.href = `book/ledger.html#claims?${new URLSearchParams({words: asked})}`;
  link.textContent = "Claims with these words, in the ledger";
  way.append(link);
  found.before(way);
});
