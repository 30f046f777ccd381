"""What is learned first: Huang et al., chapter 6."""

DATA = ()  # what the theory may see: nothing here is trained
