"""How many prompts, how many tasks: Lu et al. 2024, chapters 5, 5b and 5c.

samplers, moments                       tasks, prompts and their second moments
experiment, ridge                       the reduced model: one ridge regression (chapter 5)
layers, levenberg_marquardt             whole attention layers, trained to convergence (5b)
training_sets                           fleets of pretraining sets
transformers, transformer_training      whole transformers, trained by Adam (5b, 5c)
dmmse                                   the best answer for tasks on a list (5c)
curve_analysis                          peaks, thresholds and transitions of error curves
sweep_jobs, sweep_grids                 the jobs of the recorded sweeps and their lists

theory.asymptotics                      the limits of Results 1 and 2 (chapter 5)
theory.equivalents                      the same at a finite size
theory.parameter_counts                 how many numbers a layer can use (5b)
theory.roots                            roots and fixed points
"""

DATA = ("moments", "samplers")  # the theory may see these: nothing here is trained
