"""The book on paper (pdf) and as the picture of the README (picture)."""
