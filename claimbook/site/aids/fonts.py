"""The fonts that set almost every line stand in the style sheets themselves.

A font that is a file comes after the first paint wherever the machine or the network is slow, and
then moves the lines that it sets. These are read while the page is, by a script behind the styles.
Italics, Greek and the rarer letters of formulas stay files.
"""

import base64
from pathlib import Path

from claimbook.files import write_atomically

# style sheet → its fonts that every page needs at once
EMBEDDED = {
    "type.css": (
        "source-serif-4-latin-wght-normal.woff2",
        "source-sans-3-latin-wght-normal.woff2",
    ),
    "katex/katex.min.css": ("KaTeX_Main-Regular.woff2", "KaTeX_Math-Italic.woff2"),
}
FACES = ("1em 'Source Serif 4'", "1em 'Source Sans 3'", "1em KaTeX_Main", "italic 1em KaTeX_Math")
READ = f"<script>{list(FACES)}.forEach(face => document.fonts.load(face));</script>"


def embed_fonts(static: Path) -> None:
    """Put these fonts in place of the links to them, in the site's folder of static files.

    A site without one of the sheets has nothing to be set by its fonts.
    """
    for name, fonts in EMBEDDED.items():
        sheet = static / name
        if not sheet.exists():
            continue
        whole = sheet.read_text(encoding="utf8")
        for font in fonts:
            held = base64.b64encode((sheet.parent / "fonts" / font).read_bytes()).decode()
            link = f"url(data:font/woff2;base64,{held})"
            whole = whole.replace(f"url(fonts/{font})", link)
        write_atomically(sheet, whole)
