pytest_plugins = ["claimbook.checker.plugin"]
