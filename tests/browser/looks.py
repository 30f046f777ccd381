"""The looks in which pages are seen, and what is left of an opened page for axe to read."""

NARROW, WIDE = (390, "dark"), (1280, "light")
LOOKS = [NARROW, WIDE, (1280, "dark"), (390, "light")]
# Leaves one element of each kind: whether it can be read hangs on its tag, class, role, ink, size
# and ground alone. Of a formula and a listing, most of a page's nodes, the words stay and one token
# of each colour. pandas numbers the classes of its cells.
THIN = """() => {
  const named = e => (e.getAttribute('class') ?? '').replace(/\\b(row|col|level)\\d+\\b/g, '');
  const tokens = new Set(), listed = [...document.querySelectorAll('pre span')];
  const spare = listed.filter(e => {
    const known = tokens.has(e.className) || !e.checkVisibility();
    if (!known) tokens.add(e.className);
    return known;
  });
  for (const e of spare) e.replaceWith(...e.childNodes);
  for (const e of document.querySelectorAll('.katex-html')) e.replaceChildren(e.textContent);
  for (const e of document.querySelectorAll('.katex math > semantics')) {
    const words = document.createElementNS(e.namespaceURI, 'mtext');
    words.textContent = e.querySelector('annotation').textContent;
    e.replaceWith(words);
  }
  const block = 'p, li, ul, dl, .sig-param, tr, pre, pre span, .formula, .cell, .claim,'
    + 'section, svg *';
  const kinds = new Map(), grounds = new Map(), seen = new Set();
  for (const e of document.querySelectorAll('*')) { // all before any goes: styles are settled once
    const {color, backgroundColor, opacity, fontSize, fontWeight} = getComputedStyle(e);
    const own = `${backgroundColor} ${opacity}`, below = grounds.get(e.parentElement) ?? '';
    grounds.set(e, own === 'rgba(0, 0, 0, 0) 1' ? below : `${own} on ${below}`);
    const kind = [e.tagName, named(e), e.getAttribute('role'), color, fontSize, fontWeight];
    if (e.checkVisibility()) kinds.set(e, [...kind, grounds.get(e)].join());
  }
  const stays = e => /^(H\\d|FIGURE)$/.test(e.tagName) || kinds.has(e) && !seen.has(kinds.get(e));
  for (const e of document.querySelectorAll(`:is(${block}):not(:is(a, button, th, td) *)`)) {
    const all = [e, ...e.querySelectorAll('*')];
    if (!all.some(stays)) e.remove();
    else all.filter(each => each.closest(block) === e).forEach(each => seen.add(kinds.get(each)));
  }
}"""
