"""Sentences, and the config of a small model, for the tests of the core."""

SENTENCES = (
    "The house was quite old. We like a quiet street, and the room is quiet at night.",
    "She was quite sure of it. It was a quiet place in the hills.",
    "We live in peace. He wants a piece of cake, and a piece of bread with it.",
    "They may be late. Maybe the train is late, or it may be broken.",
    "The dog lost its bone, and it's sad. Its tail is still.",
)
"""Written for the tests; every confusion set that they use occurs."""

CONFIG = """
[model]
name = "small"

[task]
@disambig_tasks = "toys.Pairs.v1"

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.near]
@disambig_extractors = "toys.NearbyWords.v1"

[learner]
@disambig_learners = "toys.Perceptron.v1"

[baseline]
@disambig_learners = "toys.Constant.v1"

[training]
"""
"""Of a model of toys; lines of ``[training]`` may follow."""
