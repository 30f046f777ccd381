"""How far to look: Collins et al. 2024, chapters 1 to 4.

covariates, function_classes   places and tasks (Sections 2 and 3, Appendix B)
low_rank_tasks                 tasks of few directions (Section 4, Figure 9)
prompts, attention             the softmax and the linear head, and what they are asked
pretraining                    fleets of heads, trained together (Figures 3 to 5, 9)
evaluation, transfer           test errors, on a head's own tasks and on others (chapter 2)
alignment                      the directions that a trained matrix keeps (chapter 4)

theory.population_loss, best_window     the exact loss of a window and its minimum (chapter 1)
theory.rates                            how the best window grows (Theorem 3.4)
theory.theorem_3_4, theorem_4_4         bounds and lemmas of both (Appendices C, D, H)
theory.full_matrix, value_weight        is the best matrix a multiple of the identity
theory.misspecification                 the price of a window made for other tasks (chapter 2)
theory.linear_attention                 the best linear unit and its floor (Theorem 3.6)
theory.nearest_neighbour                attention to one token alone (Remark 2.1)
theory.low_rank, low_rank_problem       the best head on low-rank tasks (chapter 4)
"""

DATA = ("covariates", "function_classes", "low_rank_tasks")  # the theory may see these: none trains
