"""The checker, a pytest plugin: nbval runs the chapters; their verdicts are held to a reference.

A chapter is a MyST notebook. Every code cell is a test that must run without an error. Then follows
one test for each claim of ``tests/expected/<chapter>.yml`` (``…::claim:<id>``: the verdict exactly,
the value within its ±, parts and controls likewise), one for the prose, tables and figures
(``…::page``) and one called ``…::ledger``: each row of the chapter's block is checked once, nothing
else is printed, nothing is warned of, and the knobs are at the ledger's settings.

:mod:`~claimbook.checker.plugin` holds the hooks, :mod:`~claimbook.checker.chapters` what is
collected, :mod:`~claimbook.checker.run` what a run found out,
:mod:`~claimbook.checker.reference` what it is held to, and
:mod:`~claimbook.checker.findings` what is said while it runs.
"""
