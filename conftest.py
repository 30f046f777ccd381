pytest_plugins = ["iclutils.book.checker.plugin"]
