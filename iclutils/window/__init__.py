"""How far to look: Collins et al., chapters 1 to 4."""

DATA = ("covariates", "functions", "links")  # what the theory may see: nothing here is trained
