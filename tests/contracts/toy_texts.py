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

WORDS_CONFIG = """[model]
name = "my/words"
[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["bring", "take"]
[tokenisation]
@disambig_tokenisations = "disambig.words.v1"
[extractors]
[extractors.counts]
@disambig_extractors = "disambig.NgramCounts.v1"
counts = "disambig_en"
[learner]
@disambig_learners = "disambig.NoPreference.v1"
[baseline]
@disambig_learners = "disambig.NoPreference.v1"
"""
"""Of a model that decides between two words by counts."""

TAGGED = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("cats sleep".split(), "NNS VBP".split()),
    ("the cat barks".split(), "DT NN VBZ".split()),
    ("I like the dogs".split(), "PRP VBP DT NNS".split()),
    ("a dog likes cats".split(), "DT NN VBZ NNS".split()),
] * 2

PLACES = "house street room garden village valley harbour library chapel forest".split()
QUIET_PLACES = [
    sentence.format(place, number)
    for number in range(8)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]
"""Texts from which "quite" and "quiet" can be learned."""
