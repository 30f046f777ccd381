"""The figures of the chapters as files and on pages, and the explorers."""
