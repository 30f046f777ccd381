"""What helps a reader along: labels and a stamp."""
