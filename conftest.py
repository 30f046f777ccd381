pytest_plugins = ["claimbook.check.plugin"]
