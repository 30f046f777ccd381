"""What is learned first: Huang et al. 2024, chapters 6 and 7.

prompts, attention       prompts of features, and the softmax layer
training                 gradient descent on the layer's one matrix (chapter 6)
unseen_tasks             errors on tasks of other laws, and on the worst (chapter 6)

theory.meanfield         the flow of one column: plateau and phases (Theorems 1 and 2)
theory.time_bounds       the times that the talk states
theory.finite_prompts    prompts in which a feature is absent
theory.equal_features    equally frequent features, softmax and linear (chapter 7)
"""

DATA = ("prompts",)  # the theory may see it: nothing here is trained
