"""How many prompts and how many tasks: Lu et al., chapter 5."""

DATA = ("phase", "prompts")  # what the theory may see: nothing here is trained
