"""An old address of the renderer of verdicts, until every environment is installed anew."""

from claimbook.site.marks import VerdictOutput

__all__ = ["VerdictOutput"]
