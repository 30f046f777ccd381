"""Whole transformers in the worlds of the other chapters: chapter 8, the book's own.

    samplers        prompts of kinks, at one steepness or at several
    models          several blocks, parallel heads, layer norms, dense layers; many at once
    training        AdamW on fresh prompts, a fleet as one program
    evaluation      errors, and the influence of each example on the answer
    letters, letter_training, letter_jobs
                    chapter 6's features: prompts, trainings that are watched, the sweep's jobs
    storage         weights as text, for the record and for the page
    sweep_jobs      the jobs of the recorded sweep
    sides           another's: examples that are moved across the query
    lists           the job of a third: chapter 5c's networks, asked where they look

    theory.kriging          the best softmax window and the best linear weights
    theory.posterior        the best of all answers, and its influence
    theory.lists            ridge regression, and the best use of a list

It takes the samplers of the towers of windows and stages, and chapter 5c's networks with their
training. The theory sees neither a model nor a training.
"""

DATA = ("samplers",)  # the theory may see it: nothing here is trained
