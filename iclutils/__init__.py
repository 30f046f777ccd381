"""The shared package of *In-Context Learning, Reproduced*.

A module is one concept of the theory. Five floors, imports only downwards:

    book      claims, figures, figure_data, legibility
    learning  pretraining, stagewise, sweeps
    models    attention, attention_layer, linear_icl, transformer
    data      covariates, features, functions, links, prompts, subspace
    ground    randomness, statistics, validation
    theory    sphere, population, population_linear, population_matrix, population_value, lowrank_contexts,
              population_lowrank, population_features, bounds, asymptotics, meanfield   (a wing: sees data and ground only)

A prediction (theory) never shares code with what it predicts (models, learning).
"""
