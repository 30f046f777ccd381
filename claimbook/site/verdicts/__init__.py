"""What the pages say of the rows: cards, marks, sentences, lists and counts."""
