"""The shared package of *In-Context Learning, Reproduced*: three towers on one ground.

    ground       what all of them stand on: validation, randomness, statistics, sphere
    window       Collins et al., chapters 1 to 4: how far to look
    regression   Lu et al., chapters 5 and 5b: how many prompts
    stages       Huang et al., chapters 6 and 7: what is learned first

A tower sees itself and the ground; inside it a letter has one meaning. A tower's ``theory``
imports no model of it: a prediction never shares code with what it predicts. The package
``claimbook`` makes a book of it, and sees no tower.
"""
