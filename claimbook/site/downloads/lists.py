"""The lists on the page of what readers take home."""

from docutils.nodes import Node

from claimbook.files import read_json
from claimbook.site.directives import Directive
from claimbook.site.downloads import archive, offers, wheel


class Downloads(Directive):
    """``{downloads} WHICH``: the files to take home: book, chapters, exercises or data."""

    required_arguments = 1
    optional_arguments = 0

    def run(self) -> list[Node]:
        recorded = {
            path.name: read_json(path) for path in offers.recorded()
        }
        return [
            self.view(
                "downloads.html",
                which=self.arguments[0],
                archive=f"{archive.NAME}.zip",
                handout=offers.HANDOUT,
                recorded=recorded,
                wheel=wheel.NAME,
            )
        ]
