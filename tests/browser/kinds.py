"""Elements of one kind on an opened page, of which axe reads a few."""

ALIKE = 1  # of each kind: a kind is all that decides whether it can be read
# What stays on a page for axe: of a formula and of a listing, most of a page's nodes, the words and
# one of each colour; and where `alike` is a number only so many elements of a kind that are seen,
# which is one tag, class, role, colour, ground and size. pandas numbers the classes of its cells.
CLASS = "e => (e.getAttribute('class') ?? '').replace(/\\b(row|col|level)\\d+\\b/g, '')"
THIN = """alike => {
  const named = CLASS;
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
  if (alike === null) return;
  const block = 'p, li, ul, dl, .sig-param, tr, pre, pre span, .formula, .cell, .claim,'
    + 'section, svg *';
  const stays = /^(H\\d|FIGURE)$/;
  const kinds = new Map(), seen = new Map();
  for (const e of document.querySelectorAll('*')) { // all before any goes: styles are settled once
    const {color, backgroundColor, fontSize} = getComputedStyle(e);
    const own = [e.tagName, named(e), e.getAttribute('role')];
    if (e.checkVisibility()) kinds.set(e, [...own, color, backgroundColor, fontSize].join());
  }
  const count = e => kinds.has(e) ? seen.get(kinds.get(e)) ?? 0 : Infinity;
  for (const e of document.querySelectorAll(`:is(${block}):not(:is(a, button, th, td) *)`)) {
    const all = [e, ...e.querySelectorAll('*')];
    if (all.every(each => count(each) >= alike && !stays.test(each.tagName))) e.remove();
    else all.filter(each => each.closest(block) === e && kinds.has(each))
      .forEach(each => seen.set(kinds.get(each), count(each) + 1));
  }
}""".replace("CLASS", CLASS)
# Marks, for axe's rule on contrast to pass by, what is seen of a kind beyond `kept`: a kind is one
# tag, class, role, ink, size and weight on one ground, which decide whether its words stand out.
SAMPLE = """kept => {
  const named = CLASS;
  const grounds = new Map(), seen = new Map();
  for (const e of document.querySelectorAll('*')) {
    const {color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight}
      = getComputedStyle(e);
    const below = grounds.get(e.parentElement) ?? '';
    const own = [backgroundColor, backgroundImage, opacity].join();
    grounds.set(e, own === 'rgba(0, 0, 0, 0),none,1' ? below : `${own} on ${below}`);
    const names = [e.tagName, named(e), e.getAttribute('role')];
    const kind = [...names, color, fontSize, fontWeight, grounds.get(e)].join();
    const visible = e.checkVisibility(), before = seen.get(kind) ?? 0;
    if (visible) seen.set(kind, before + 1);
    e.toggleAttribute('data-alike', !visible || before >= (kept ?? Infinity));
  }
}""".replace("CLASS", CLASS)
