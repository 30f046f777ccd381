"""An old address of the renderer of verdicts, until every environment is installed anew."""
