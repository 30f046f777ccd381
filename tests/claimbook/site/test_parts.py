"""Every part of a page, held to what it shows: pictures, files, tables, terms, filters, notebooks.

The site has a chapter of two pages with figures, a page of terms and the lists that the book makes
of its chapters. Each test asks the same of all parts of a kind.
"""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat import v4
from record_page import check_how, said
from small_site import MINI, ORIGIN, ROOT, SOUND, Site, executed, verdict

from claimbook import figures
from claimbook.check.snapshot import write_expected
from claimbook.figures.svg import as_svg
from claimbook.ledger import Ledger, load, plain
from claimbook.ledger.record import VERDICT
from claimbook.pages import SPECIALIST, read_chapter, toc_pages
from claimbook.runs import notebooks
from claimbook.runs.page_key import page_key
from claimbook.site import results, stamps
from claimbook.site.downloads.offers import size_text
from claimbook.site.pictures.gallery import SVG
from claimbook.site.verdicts import filters, times
from iclutils.stats.estimate import Estimate

SECOND = SOUND + SPECIALIST
NOTEBOOK = f"book/downloads/{SOUND}.ipynb"
SECONDS = {SOUND: 45.0, SECOND: 300.0}
HEAD = "---".join((MINI / "chapters" / f"{SOUND}.md").read_text(encoding="utf8").split("---")[:2])
FIGURE = """```{{code-cell}} ipython3
---
tags: [hide-input]
mystnb:
  image:
    alt: {alt}
  figure:
    name: {name}
    caption: |
      {caption}
      Below: more.
---
draw()
```
"""
SHOWN = {  # name, caption and words of each figure, by page
    SOUND: {"name": "fig-one", "caption": "What rises.", "alt": "A line that rises."},
    SECOND: {"name": "fig-two", "caption": "What falls.", "alt": "Four lines that fall."},
}
EXERCISE = "What is $2^2$ in *words*?"
ANSWER = "It is four."
OWN_WORDS = "The same line, seen from elsewhere."
TERMS = {"prompt": "What is read.", "token": "A part of it.", "query": "The last part."}
ALSO = {"token": "item"}  # terms that share an entry
PAGES = {
    SOUND: f"""{HEAD}---

(ch-mini)=
# The mean of a sample

```{{chapter-card}} {SOUND}
:paper: A paper
:result: none
The mean is $0$.
```

It rises for both. {{judged}}`fair-part`

The {{term}}`token` comes before the {{term}}`query`, and the {{term}}`token` again.

1. the first item
2. the second item

| left | right |
| --- | --- |
| one | two |

```{{code-cell}} ipython3
:tags: [setup]
1
```

```{{prediction}} Which way does $x$ go?
- it rises
- it falls
```

```{{code-cell}} ipython3
:tags: [hide-input]
train()
```

{FIGURE.format(**SHOWN[SOUND])}
```{{prediction-end}}
```

{{.source-line}}
After *a paper*.

## Exercises

```{{exercise}} By hand
:label: ex-mini
{EXERCISE}
```

```{{solution}} ex-mini
:class: dropdown
{ANSWER}
```

## How it was checked

```{{code-cell}} ipython3
---
tags: [hide-input]
mystnb:
  code_prompt_show: The check
---
2
```
""",
    SECOND: f"""{HEAD}---

(ch-mini-specialist)=
# The mean, for the specialist

An {{term}}`item` of a {{term}}`prompt`, and its {{term}}`query`.

{FIGURE.format(**SHOWN[SECOND])}

## The verdicts

```{{verdicts}} {SOUND}
```

```{{verdicts}} {SECOND}
```

## Deviations and their effects

| number | there | here |
| --- | --- | --- |
| 1 | their norm | our norm |
| 2 | their rate | our rate |

## What we did differently

1. **Another seed.** It moves nothing.
2. *Another order*, which does.
""",
    "intro": """# Mini

Words of the front page.

```{scorecard}
```

(reading-a-verdict)=
## Reading a verdict

How it is read.
""",
    "terms": """# Terms

```{glossary}
prompt
  What is read.

token
item
  A part of it.

query
  The last part.
```
""",
    "lists": f"""# Lists

```{{run-times}}
```

```{{run-figure}} fig-one
:alt: {OWN_WORDS}

Its words here.
```

```{{run-figure}} fig-two
Its words here, too.
```

```{{downloads}} exercises
```
""",
}
ORDER = ["chapters/" + SOUND, "chapters/" + SECOND, "terms", "lists", "ledger", "downloads"]
SWEEP = {
    "jobs": [{"n": 1}, {"n": 2}, {"n": 3}],
    "cpu_s": 7260.4,
    "machine": "A processor, one core a job",
    "python": "3.11.7",
    "versions": {"torch": "2.4.1"},
    "date": "2026-11-20",
    "command": "make sweep",
}
TABLE = '<table id="T_a"><tbody><tr><td id="T_a_row0_col0">-0.5</td></tr></tbody></table>'


def picture(rows):
    """A figure as a chapter displays it."""
    figure, axes = figures.panels(rows, 1, height=1.2)
    for panel in axes:
        panel.plot([1, 2, 3], [1, 3, 2], label="a", color=figures.COLOURS["softmax"])
    svg, with_it = as_svg(figure)
    return v4.new_output("display_data", data={SVG: svg}, metadata={SVG: with_it})


class Parts(Site):
    """The small site with more pages, each with parts that the book has."""

    def __init__(self, root):
        super().__init__(root)
        book = root / "book"
        for name, text in PAGES.items():
            folder = book / "chapters" if name in SHOWN else book
            (folder / f"{name}.md").write_text(text, encoding="utf8")
        text = (ROOT / "tests" / "fixtures" / "fair_claims.yml").read_text(encoding="utf8")
        claims = yaml.safe_load(text)
        first = claims["chapters"][SOUND]
        claims["chapters"][SECOND] = {**first, "claims": [first["claims"].pop()]}
        (book / "claims.yml").write_text(yaml.safe_dump(claims, sort_keys=False), encoding="utf8")
        (book / "recorded").mkdir()
        (book / "recorded" / "00_sweep.json").write_text(json.dumps(SWEEP))
        self.pictures = {SOUND: picture(2), SECOND: picture(1)}
        for chapter in SHOWN:
            self.store(chapter)

    def write_toc(self):
        first, *rest = [{"file": f"book/{name}"} for name in ORDER]
        listed = [first | {"sections": rest[:1]}, *rest[1:]]
        toc = {"format": "jb-book", "root": "book/intro", "chapters": listed}
        (self.root / "_toc.yml").write_text(yaml.safe_dump(toc))

    def records(self):
        ledger = Ledger(SOUND, path=self.root / "book" / "claims.yml", seed=0, trials=400)
        up = Estimate(1.02, 0.05, 9)
        reversed_ = {"reversed": Estimate(-1.07, 0.05, 9)}
        again = reversed_ | {"other-draws": Estimate(0.01, 0.05, 9)}
        ledger.check("fair-part", {"affine": up, "ReLU": up}, controls=reversed_, value=up)
        turned = Ledger(SOUND, path=self.root / "book" / "claims.yml", seed=0, trials=300)
        turned.check("fair-holds", up, controls=again)
        return [*ledger.records.values(), *turned.records.values()]

    def store(self, chapter):
        path = self.root / "book" / "chapters" / f"{chapter}.md"
        notebook, code = executed(path)
        for cell in code:
            if "figure" in cell.metadata.get("mystnb", {}):
                cell["outputs"] = [self.pictures[chapter]]
        if chapter == SOUND:
            records = self.records()
            table = v4.new_output("display_data", data={"text/html": TABLE, "text/plain": "-0.5"})
            code[-1]["outputs"] = [*map(verdict, records), table]
        run = {**ORIGIN, "seconds": SECONDS[chapter]}
        write_expected(chapter, notebook, self.root)
        notebooks.store(notebook, path, page_key(path, self.root), run, self.root)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Parts(tmp_path_factory.mktemp("parts"))
    site.make()
    return site


@pytest.fixture(scope="module")
def pages(site):
    """The articles of the book's pages, by their place on the site."""
    found = {}
    for path in sorted((site.html / "book").rglob("*.html")):
        soup = BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")
        found[path.relative_to(site.html).as_posix()] = soup
    return found


def page(pages, name):
    return pages[f"book/{'chapters/' if name in SHOWN else ''}{name}.html"]


def target(site, page, address):
    """The file that an address on a page leads to, and the place in it."""
    file, place = urldefrag(unquote(address))
    return ((site.html / page).parent / file).resolve() if file else site.html / page, place


# -------------------------------------------------------------- links and files


KINDS = {
    "SVG": "svg",
    "data (CSV)": "csv",
    "notebook with outputs": "ipynb",
    "Markdown source": "md",
}


def test_every_file_is_what_its_link_says_and_as_large(site, pages):
    seen = set()
    for name, soup in pages.items():
        for link in soup.select("article a[href]"):
            if said(link) in KINDS:
                file, _ = target(site, name, link["href"])
                assert file.suffix == f".{KINDS[said(link)]}", (name, link)
                seen.add(said(link))
        for stated in soup.select("span.file"):
            size = re.search(r"\(([\d.]+ [kM]B)\)", said(stated))
            file, _ = target(site, name, stated.a["href"])
            assert size is not None, (name, said(stated))
            assert size[1] == size_text(file.stat().st_size), said(stated)
    assert seen == set(KINDS)


def test_the_exercises_of_a_page_are_handed_out_without_their_solutions(site, pages):
    (link,) = page(pages, "lists").select("article a[href$='_exercises.md']")
    file, _ = target(site, "book/lists.html", link["href"])
    text = file.read_text(encoding="utf8")
    assert text.startswith("# The mean of a sample\n")
    title = said(page(pages, SOUND).select_one(".exercise .admonition-title"))
    assert f"**{title}**\n\n{EXERCISE}\n" in text
    assert ANSWER in said(page(pages, SOUND))
    assert ANSWER not in text
    assert not (file.parent / f"{SECOND}_exercises.md").exists(), "a page without exercises"


def test_a_recorded_sweep_is_offered_with_all_that_made_it(pages):
    (line,) = [
        said(item) for item in page(pages, "downloads").select("li") if "00_sweep" in said(item)
    ]
    facts = [
        f"{len(SWEEP['jobs'])} jobs",
        f"{SWEEP['cpu_s']:.0f} s of processor time",
        SWEEP["machine"],
        f"Python {SWEEP['python']}",
        "torch 2.4.1",
        SWEEP["date"],
        f"made by {SWEEP['command']}",
    ]
    assert line.endswith(f": {'; '.join(facts)}.")


def test_the_sidebar_has_the_titles_of_all_pages_and_a_page_its_own_sections(site, pages):
    order = [pages[f"{name}.html"] for name in toc_pages(site.root)]
    titles = [re.sub(r"^[\d.]+ |#$", "", said(soup.select_one("article h1"))) for soup in order]
    for soup in pages.values():
        listed = soup.select("nav.bd-links li > a")
        shown = [re.sub(r"^[\d.]+ ", "", said(link)) for link in listed]
        assert shown == titles
    for name, section in ((SOUND, "Exercises"), (SECOND, "The verdicts"), ("intro", "Reading a")):
        assert section in said(page(pages, name).select_one("nav.page-toc"))


# -------------------------------------------------------------- figures


def drawings(site, chapter):
    """The files of a chapter's figure, by how their names end, as they must be."""
    output = site.pictures[chapter]
    return {".svg": output["data"][SVG], ".csv": output["metadata"][SVG]["csv"]}


@pytest.mark.parametrize("chapter", SHOWN)
def test_the_files_of_a_figure_are_what_was_drawn(site, chapter):
    folder = site.html / "book" / "figures"
    name = SHOWN[chapter]["name"]
    expected = drawings(site, chapter)
    there = {path.name.removeprefix(name) for path in folder.glob(f"{name}*")}
    assert there == set(expected)
    for ending, text in expected.items():
        assert (folder / f"{name}{ending}").read_text(encoding="utf8") == text, ending


def check_size(node, file):
    """The size that a page states is the drawing's own, 96 pixels an inch of 72 points."""
    drawn = re.search(r"<svg [^>]*>", file.read_text(encoding="utf8"))[0]
    for side in ("width", "height"):
        points = float(re.search(rf'\b{side}="([\d.]+)pt"', drawn)[1])
        assert abs(int(node[side]) - points / 72 * 96) <= 0.51


def test_every_picture_is_shown_with_its_words_and_its_size(site, pages):
    seen = set()
    for name, soup in pages.items():
        for image in soup.select("article img.drawing"):
            seen.add((name, image["alt"]))
            (chapter,) = [key for key, one in SHOWN.items() if one["name"] in image["src"]]
            assert Path(image["src"]).name == SHOWN[chapter]["name"] + ".svg"
            check_size(image, target(site, name, image["src"])[0])
    first, second = (f"book/chapters/{name}.html" for name in SHOWN)
    assert seen == {
        (first, SHOWN[SOUND]["alt"]),
        (second, SHOWN[SECOND]["alt"]),
        ("book/lists.html", OWN_WORDS),
        ("book/lists.html", SHOWN[SECOND]["alt"]),
    }


# -------------------------------------------------------------- runs


def test_the_table_of_the_runs_has_each_and_their_sum(pages):
    table = page(pages, "lists").select_one("table.run-times")
    lines = [[said(cell) for cell in line.select("th, td")] for line in table.select("tbody tr")]
    shown = {
        SOUND: [times.duration(SECONDS[SOUND]), "0", stamps.OWN_SETTINGS],
        SECOND: [times.duration(SECONDS[SECOND]), "0", stamps.COMPARED],
    }
    assert [line[1:] for line in lines[:-1]] == list(shown.values())
    assert lines[-1][1] == times.duration(sum(SECONDS.values()))


def test_the_head_of_a_chapter_says_how_it_was_run(pages):
    facts = {
        said(line.dt): said(line.dd)
        for line in page(pages, SOUND).select(".chapter-card dl.claim-facts > div")
    }
    assert facts["Run"] == "45 s on one core, master seed 0"
    assert facts["Last validated"].startswith(f"{stamps.OWN_SETTINGS}; commit abc1234567 (clean)")


def test_the_digest_changes_with_everything_that_pages_show():
    one = results.Results({"c": {}}, {"c": stamps.Run()}, {"row": {"1": "holds"}})
    assert replace(one).digest() == one.digest()
    assert replace(one, runs={"c": stamps.Run("run")}).digest() != one.digest()
    for field in fields(one):
        assert replace(one, **{field.name: {}}).digest() != one.digest(), field.name


# -------------------------------------------------------------- rows


def test_a_row_as_data_has_the_same_fields_with_a_run_and_without(site):
    found = json.loads((site.html / "book" / "ledger.json").read_text(encoding="utf8"))
    run = next(row for row in found if row["verdict"] != "not run")
    other = next(row for row in found if row["verdict"] == "not run")
    assert {tuple(row) for row in found} == {tuple(run)}
    assert run["anchor"] == f"chapters/{SECOND}.html#claim-{run['id']}"
    assert (other["value"], other["parts"]) == (None, {})
    written = rows(site)[other["id"]]
    assert (other["amended"], other["audit"]) == (written.get("amended", []), written.get("audit"))
    assert other["controls"] == {name: dict(one) for name, one in written["controls"].items()}


def rows(site):
    blocks = plain(load(site.root / "book" / "claims.yml"))["chapters"]
    assert set(blocks) == {SOUND, SECOND}
    return {row["id"]: row for block in blocks.values() for row in block["claims"]}


def test_every_card_says_how_its_row_is_judged(site, pages):
    for name in ("ledger", SECOND):
        for claim, row in rows(site).items():
            check_how(page(pages, name).find(id=f"claim-{claim}"), row)


def test_what_a_row_is_chosen_by_is_the_row_s_and_has_its_button(site, pages):
    soup = page(pages, "ledger")
    used = {kind: set() for kind in ("source", "chapter", "origin", "reading")}
    for claim, row in rows(site).items():
        data = soup.find(id=f"claim-{claim}").attrs
        document = row["source"]["document"]
        expected = {
            "source": document,
            "chapter": SOUND,
            "origin": filters.OURS.key if document == "ours" else filters.THEIRS.key,
            "reading": row["source"].get("reading", ""),
        }
        assert {kind: data[f"data-{kind}"] for kind in expected} == expected
        for kind, value in expected.items():
            used[kind].add(value)
    buttons = {kind: set() for kind in used} | {"verdict": set()}
    for button in soup.select("button[data-kind]"):
        buttons[button["data-kind"]].add(button["data-value"])
    # what we ask was not read and has a filter of its own; of the others' talk nothing was run
    assert buttons["source"] == used["source"] - {"ours", "slides"}
    assert buttons["reading"] == used["reading"] - {""}
    assert (buttons["chapter"], buttons["origin"]) == (used["chapter"], used["origin"])


def test_a_mark_stands_behind_its_sentence_and_its_line_below(site, pages):
    (line,) = page(pages, SOUND).select("p.verdict-line")
    sentence = line.find_previous_sibling("p")
    assert said(sentence).startswith("It rises for both.")
    mark = sentence.select_one("a.judged")
    assert mark["aria-label"] == f"holds: {rows(site)['fair-part']['brief']}"
    assert mark["href"] == "#checked-fair-part"
    assert mark["data-line"] == line["id"]
    assert line.has_attr("hidden")
    assert line.select_one("a[href$='#claim-fair-part']")
    assert "Tightest of 2 parts: affine: 1.02" in said(line)


def test_all_checks_of_a_page_are_one_table_and_one_bar(pages):
    section = page(pages, SOUND).find(id="how-it-was-checked")
    listed = section.select("table.checked tbody tr")
    assert [row["id"] for row in listed] == ["checked-fair-part", "checked-fair-holds"]
    assert [row.a["href"] for row in listed] == [
        "../ledger.html#claim-fair-part",
        "../ledger.html#claim-fair-holds",
    ]
    (bar,) = section.select("details")
    assert said(bar.summary) == "The checks"
    assert len(bar.select("div.cell")) == 1
    assert not bar.select(".verdict-line")


def test_a_notebook_shows_a_verdict_below_its_sentence_or_at_its_check(site):
    cells = json.loads((site.html / NOTEBOOK).read_text(encoding="utf8"))["cells"]
    shown = [output["data"] for cell in cells for output in cell.get("outputs", [])]
    (verdict,) = [data for data in shown if VERDICT in data]
    assert verdict[VERDICT]["id"] == "fair-holds"
    assert "".join(verdict["text/markdown"]).startswith("**✓ holds**")
    words = ["".join(cell["source"]) for cell in cells]
    (text,) = [one for one in words if "It rises for both." in one]
    assert re.search(r"It rises for both\.\n\n\*\*✓ holds\*\*", text)
    assert [one for one in words if one in ("1", "draw()", "2")] == ["1", "draw()", "2"]


def test_set_up_is_shown_last_and_reached_from_the_top(pages):
    soup = page(pages, SOUND)
    run = soup.find(id="run-it")
    assert [said(code) for code in run.select("details pre")] == ["1"]
    assert f"make chapter NAME={SOUND}" in said(run)
    assert run.select_one("a[href$='.ipynb']")
    assert soup.select_one("article h1").find_next_sibling("p").a["href"] == "#run-it"
    assert run.find_previous(id="how-it-was-checked")


def test_a_prediction_folds_what_follows_it(pages):
    (prediction,) = page(pages, SOUND).select("div.prediction")
    answers = prediction.select("ul.prediction-answers > li")
    assert list(map(said, answers)) == ["it rises", "it falls"]
    (rest,) = prediction.select("details.prediction-rest")
    assert rest.has_attr("open")  # for whoever runs no scripts
    assert rest.select_one("figure#fig-one")
    assert "source-line" in prediction.find_next_sibling("p")["class"]


def test_the_code_of_a_figure_opens_below_it_with_what_was_computed_for_it(pages):
    for name, codes in ((SOUND, ["train()", "draw()"]), (SECOND, ["draw()"])):
        (figure,) = page(pages, name).select("figure:has(img)")
        (code,) = figure.select("details.figure-code")
        assert said(code.summary) == "code"
        assert list(map(said, code.select("pre"))) == codes
        article = page(pages, name).select_one("article")
        assert said(article).count("train()") == codes.count("train()")
        assert not page(pages, name).select("details.above-input:has(figure), details.hide figure")


# -------------------------------------------------------------- terms, search, notes


def test_numbers_in_tables_are_typeset_on_every_page(pages):
    cells = [cell for soup in pages.values() for cell in soup.select("td[id^=T_]")]
    assert [said(cell) for cell in cells] == ["−0.5"]


# -------------------------------------------------------------- notebooks


@pytest.mark.parametrize("chapter", SHOWN)
def test_the_notebook_has_what_the_page_has(site, pages, chapter):
    path = site.html / "book" / "downloads" / f"{chapter}.ipynb"
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    soup = page(pages, chapter)
    caption = soup.select_one("figcaption .caption-text")
    number = re.search(r"[\d.]*\d", said(soup.select_one("figcaption .caption-number")))[0]
    assert f"**Figure {number}.** {said(caption)}" in text
    for listed in soup.select("article ol"):
        for count, item in enumerate(listed.select("li"), 1):
            first = re.escape(re.match(r"[\w ]+", said(item))[0])
            assert re.search(rf"^{count}\. \W*{first}", text, re.MULTILINE), said(item)
    for table in soup.select("article table.table"):
        lines = [[said(cell) for cell in line.select("th, td")] for line in table.select("tr")]
        shown = [f"| {' | '.join(line)} |" for line in lines]
        shown.insert(1, "|" + " --- |" * len(lines[0]))
        assert "\n".join(shown) in text
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    source = read_chapter(site.root / "book" / "chapters" / f"{chapter}.md")
    written = [cell for cell in source.cells if cell.cell_type == "code"]
    for cell, own in zip(code, written, strict=True):
        folded = "hide-input" in own.metadata.get("tags", [])
        assert cell["metadata"].get("jupyter", {}).get("source_hidden", False) == folded
