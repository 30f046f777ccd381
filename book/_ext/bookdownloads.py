"""What readers take home: the executed notebooks and the ledger as data."""

import csv
import io
import json
import os
from pathlib import Path

import bookcache
from bookresults import found, rows_in_book


def executed_notebooks(app, env):
    """On a cache hit MyST-NB writes the notebooks for download without their outputs: put them back."""
    import nbformat
    from jupyter_cache import get_cache

    cache = get_cache(app.config.nb_execution_cache_path)
    for path in Path(env.mystnb_config.output_folder).rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in notebook.cells):
            continue
        try:
            _, notebook = cache.merge_match_into_notebook(notebook)
        except KeyError:
            continue
        for cell in notebook.cells:
            if cell.cell_type == "code":  # glued values are for the site only
                cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
        times = path.stat()
        bookcache.write_atomically(path, nbformat.writes(notebook))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # else Sphinx reads the chapter again in every build


def ledger_rows(app):
    """The ledger as flat rows for the downloads."""
    results = found(app)
    for chapter, row in rows_in_book():
        record = results.record(chapter, row["id"]) or {}
        yield {"chapter": chapter, "id": row["id"], "document": row["source"]["document"], "place": row["source"]["place"],
               "reading": row["source"]["reading"], "kind": row["kind"], "statement": row["statement"],
               "statistic": row["statistic"], "criterion": row["criterion"], "tolerance": row["tolerance"],
               "expected": row["expected"], "verdict": record.get("verdict"), "value": record.get("value"),
               "half_width": record.get("half_width"), "default_settings": record.get("default_settings"),
               "why": record.get("why"), "parts": record.get("parts"), "controls": record.get("controls"),
               "settings": record.get("settings"), "seeds": results.seeds.get(row["id"], {})}


def write_ledger(app, exception):
    """``ledger.csv`` and ``ledger.json`` beside the ledger page."""
    if exception or app.builder.format != "html":
        return
    rows, folder = list(ledger_rows(app)), Path(app.outdir) / "book"
    bookcache.write_atomically(folder / "ledger.json", json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict) else v for k, v in row.items()})
    bookcache.write_atomically(folder / "ledger.csv", text.getvalue())
