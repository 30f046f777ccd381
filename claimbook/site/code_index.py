"""From a source to the code: which functions compute what a row judges, read from its page.

A check hands estimates over. The names in it are followed back through the statements of the page,
from each to those that it is computed from; the functions of the book's packages that are named on
the way are the row's, nearest first. A record leads to the function of its sweep, by
``book/sweeps.py``. Left out are classes, which hold settings, and what lies in no package of a
package, which serves all pages, such as a mean with its error bar.
"""

import ast
import re
import symtable
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from docutils.nodes import Node
from sphinx.application import Sphinx

from claimbook.files import ROOT, packages
from claimbook.pages import chapter_path, code_cells, read_chapter
from claimbook.runs.page_key import file_of
from claimbook.site.content import Content, content_of
from claimbook.site.directives import Directive, view

SWEEPS = ROOT / "book" / "sweeps.py"
SWEEP = re.compile(r'"([\w/]+)": Sweep\((\w+)')  # a record, and the function of its jobs
IN_A_CONDITION = re.compile(r"\b\w+(?:\.\w+)+(?=\()")
IN_A_TOWER = re.compile(r"(?!.*\.[A-Z_]+\b)\w+(?:\.\w+){3,}")  # and no constant

Statement = tuple[set[str], set[str], set[str], list[str]]


def parse(node: ast.stmt, names: Mapping[str, str]) -> Statement:
    """Return the names that a statement sets, changes in place and reads, and its functions.

    What is set within a function or a comprehension stays there.
    """
    top = symtable.symtable(ast.unparse(node), "", "exec")
    sets = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_namespace()}
    symbols = [one for table in tables(top) for one in table.get_symbols()]
    reads = {one.get_name() for one in symbols if one.is_referenced() and one.is_global()}
    own = sets if isinstance(node, (ast.For, ast.With, ast.FunctionDef)) else set()
    return sets, set(changed(node)), reads - own, functions_in(node, names)


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the tables of a piece of code and of the functions in it."""
    yield table
    for inner in table.get_children():
        yield from tables(inner)


def changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose values get a part: by ``+=``, an index, or a method such as append."""
    for part in ast.walk(node):
        is_item = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
        is_call = isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)
        if is_item or is_call or isinstance(part, ast.AugAssign):
            yield re.split(r"\W", ast.unparse(part))[0]


def functions_in(node: ast.AST, names: Mapping[str, str]) -> list[str]:
    """List the functions that some code names; ``names`` has what a first name stands for."""
    functions = []
    for part in ast.walk(node):
        if isinstance(part, ast.Constant):
            functions.append(names.get(str(part.value), ""))  # a record
        elif isinstance(part, (ast.Name, ast.Attribute)):
            first, dot, rest = ast.unparse(part).partition(".")
            functions.append(names.get(first, "") + dot + rest)
    return [one for one in functions if IN_A_TOWER.fullmatch(one) and file_of(one, ROOT) is None]


def imported_names(source: str) -> dict[str, str]:
    """Map the names that some code imports from the packages to what they stand for."""
    names: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in packages():
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return names


def functions_behind(check: Statement, before: Sequence[Statement]) -> list[str]:
    """List the functions that the numbers of a check come from."""
    _, _, sought, functions = check
    for sets, changes, reads, named in reversed(before):
        if sought & (sets | changes):
            sought = sought - (sets - changes - reads) | reads
            functions = [*functions, *named]
    return [name for name in functions if name.rpartition(".")[2].islower()] or functions


@lru_cache(maxsize=1)
def origins(content: Content) -> dict[str, tuple[str, list[str]]]:
    """Return where each row is judged, by the words on its cell's bar, and its functions."""
    sweeps = SWEEPS.read_text(encoding="utf8") if SWEEPS.exists() else ""
    of_sweeps = imported_names(sweeps)
    records = {record: of_sweeps[name] for record, name in SWEEP.findall(sweeps)}
    rows = {}
    for chapter in content.chapters:
        cells = code_cells(read_chapter(chapter_path(chapter, ROOT)))
        names = imported_names("\n".join(cell.source for cell in cells)) | records
        before: list[Statement] = []
        for cell in cells:
            bar = cell.metadata.get("mystnb", {}).get("code_prompt_show", "its cell")
            for node in ast.parse(cell.source).body:
                for claim, estimates in checks(node):
                    criterion = str(content.by_id[claim]["criterion"])
                    called = [f"{packages()[0]}.{one}" for one in IN_A_CONDITION.findall(criterion)]
                    functions = [*functions_behind(parse(estimates, names), before), *called]
                    rows[claim] = bar.removeprefix("Check: "), list(dict.fromkeys(functions))
                before.append(parse(node, names))
    return rows


def checks(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the rows that a statement judges, with the estimates that it hands over."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "ledger.check":
            options = [each.value for each in call.keywords if each.arg != "controls"]
            estimates = ast.Expr(ast.Tuple([*call.args[1:], *options], ast.Load()))
            yield ast.literal_eval(call.args[0]), estimates


class CodeIndex(Directive):
    """``{code-index} DOCUMENT``: each of its rows, with what computes it and where it is shown."""

    required_arguments = 1
    optional_arguments = 0

    def run(self) -> list[Node]:
        content = content_of(self.env.app)
        rows = [row for row in content.rows if row["document"] == self.arguments[0]]
        text = view(self.env, "code_index.md", rows=rows, origins=origins(content)).astext()
        return self.parse_text_to_nodes(text)


def name_results(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: Any) -> None:
    """Say at the end of a module's docstring which results of the sources it serves."""
    content = content_of(app)
    for source in content.sources if what == "module" else ():
        links = []
        for row in content.rows:
            functions = origins(content)[row["id"]][1] if row["document"] == source else ()
            if any(function.startswith(f"{name}.") for function in functions):
                links.append(f":claim:`{row['place']} <{row['id']}>`")
        if links:
            short = content.claims["documents"][source]["short"]
            lines += ["", f"Serves {short}: " + " · ".join(links)]
