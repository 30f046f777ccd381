"""What helps a reader along: titles, search, previews, glossary, addresses, a stamp."""
