"""The science of *In-Context Learning, Reproduced*: four towers and what they share.

    window       Collins et al., chapters 1 to 4: how far to look
    regression   Lu et al., chapters 5, 5b and 5c: how many prompts, how many tasks
    stages       Huang et al., chapters 6 and 7: what is learned first
    transformer  whole transformers, chapter 8: how far they look

Shared by the towers are ``randomness`` (named streams), ``validation`` and ``arguments`` (checked
input), ``sphere``, ``products``, ``perturbation`` and ``stats`` (from trials to an estimate).

A tower imports itself and what is shared, ``transformer`` the others' samplers and chapter 5c's
transformers as well; inside it a letter has one meaning. A tower's ``theory`` imports no model of
it: a prediction never shares code with what it predicts. The package ``claimbook`` makes a book of
it, and imports no tower.
"""
