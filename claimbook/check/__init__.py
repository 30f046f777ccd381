"""The checker: nbval runs the pages, ordinary tests hold the cached runs to their references.

A page is a MyST notebook. :mod:`~claimbook.check.collection` makes a test of every code cell, which
must run without an error; a page that ran green is cached (:mod:`claimbook.runs.notebooks`). Then
``differences(read_expected(page), Snapshot.of(run.notebook))`` and ``breaches(page, run.notebook)``
say what is wrong with a run, to the tests and to the site alike
(:mod:`~claimbook.check.snapshot`). Reruns at other settings,
master seeds or on other processors (:mod:`~claimbook.check.reruns`) are never cached.
"""
