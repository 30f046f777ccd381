// Run by claimbook/paper/pdf.py in an opened page of the site: make it ready for paper, and hand its article to the whole book.
async ({names, name, address, width}) => {
  const article = document.querySelector('article.bd-article');
  document.body.classList.add('on-paper');
  // what a button says stays where it is part of the text: an answer to choose from, words of a sentence that set a picture
  for (const words of article.querySelectorAll('.prediction-answers button, button.x-set')) words.replaceWith(...words.childNodes);
  article.querySelectorAll('.headerlink, script, .screen-only, .copybtn, button').forEach(e => e.remove());
  for (const kept of article.querySelectorAll('.claim > noscript, .claim-how > noscript')) kept.outerHTML = kept.textContent;
  // a training that has a picture of its end is that picture on paper
  for (const kept of article.querySelectorAll('.explorer[data-explorer^="train_"] > noscript')) if (kept.textContent.includes('explorer-picture')) kept.parentElement.outerHTML = kept.textContent;
  for (const fold of article.querySelectorAll('details')) fold.open = true;
  for (const box of article.querySelectorAll('.dropdown.toggle-hidden')) box.classList.remove('toggle-hidden');

  // Panels stand side by side where they do so on this paper; the whole book has another address than its pages
  for (const wide of article.querySelectorAll('picture > source')) {
    if (matchMedia(wide.media).matches) wide.parentElement.querySelector('img').src = wide.srcset;
    wide.remove();
  }
  // Pictures far down a page are fetched only when they come into view: fetch all of them now
  for (const image of article.querySelectorAll('img')) {
    image.loading = 'eager';
    image.src = image.src;
  }
  await Promise.all([...article.querySelectorAll('img')].map(image => image.decode().catch(() => null)));
  // So are the letters of what is folded, or far down a page
  await Promise.all([...document.fonts].filter(face => face.family.includes('Source')).map(face => face.load()));

  // What is wider than the paper is shrunk until it fits; letters do not shrink quite as boxes do, so look again
  const shrink = ({style}, widths) => {
    for (let i = 0; i < 3; i++) {
      const [is, may] = widths();
      if (is <= may + 0.5) break;
      style.zoom = Math.floor(100 * (style.zoom || 1) * may / is) / 100;
    }
  };
  for (const formula of article.querySelectorAll('.formula')) shrink(formula.firstElementChild, () => [formula.scrollWidth, formula.clientWidth]);
  for (const table of article.querySelectorAll('table')) shrink(table, () => {
    const {left, right} = table.getBoundingClientRect();
    return [right - left, Math.min(width, table.parentElement.getBoundingClientRect().right) - left];
  });

  // One id for the whole book; links to places in it, to the outside, or none
  const prefix = page => page.split('/').pop() + '--';
  const own = prefix(name), site = new URL(address).origin;
  const start = own + 'top';
  for (const e of article.querySelectorAll('[id]:not([id^="T_"])')) e.id = own + e.id;  // styled tables keep theirs
  article.id = '';
  const first = article.querySelector('h1');
  if (first) first.id = start;
  for (const link of article.querySelectorAll('a[href]')) {
    const url = new URL(link.href);
    if (url.origin !== site) continue;
    const page = decodeURI(url.pathname).replace(/^\//, '').replace(/\.html$/, '');
    if (!names.includes(page)) { link.removeAttribute('href'); continue; }
    const named = url.hash.length > 1 && !url.hash.includes('?');  // with a ? it sets an explorer, and paper has none
    const place = prefix(page) + (named ? decodeURIComponent(url.hash.slice(1)) : 'top');
    link.setAttribute('href', '#' + place);
  }

  // What still sticks out, in words
  const cut = [...article.querySelectorAll('*')]
    .filter(e => e.getBoundingClientRect().right > width + 1 && e.getClientRects().length && !e.closest('svg, .katex-mathml'))
    .slice(0, 5).map(e => `${e.tagName.toLowerCase()}.${e.className} to ${Math.round(e.getBoundingClientRect().right)} px`);

  const words = heading => {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll('.katex').forEach(e => e.replaceWith(e.querySelector('math').firstChild.firstChild.textContent));
    return copy.textContent.replace(/\s+/g, ' ').trim();
  };
  const headings = [...article.querySelectorAll('h1, h2')].filter(e => e.getClientRects().length).map((e, i) => {
    if (!e.id) e.id = `${own}heading${i}`;
    return [Number(e.tagName[1]), e.id, words(e)];
  });
  article.querySelectorAll('.katex-mathml').forEach(e => e.remove());  // what is said of a formula: half of the nodes
  for (const link of article.querySelectorAll('img')) link.setAttribute('src', link.src);
  const answer = {
    html: article.innerHTML, headings, cut,
    title: headings.length ? headings[0][2] : document.title,
    stamp: document.querySelector('.run-stamp')?.textContent.trim() || '',
    sheets: [...document.querySelectorAll('link[rel=stylesheet]')].map(e => `<link rel="stylesheet" href="${e.href}">`),
    styles: [...document.querySelectorAll('head style')].map(e => [...e.sheet.cssRules].map(r => r.cssText).join('\n')),
  };
  const ids = new Set([...article.querySelectorAll('[id]')].map(e => e.id));

  // Bookmarks are set to the targets of links: this page's own print gets one, unseen, for each heading
  for (const [, id] of headings) article.insertAdjacentHTML('afterbegin', `<a class="to-heading" href="#${id}">.</a>`);

  // In this page's own print, a link to another page of the book has nowhere to go
  for (const link of article.querySelectorAll('a[href^="#"]'))
    if (!ids.has(decodeURIComponent(link.getAttribute('href').slice(1)))) link.removeAttribute('href');
  return answer;
}
