"""Sentences for the tests of the core."""

SENTENCES = (
    "The house was quite old. We like a quiet street, and the room is quiet at night.",
    "She was quite sure of it. It was a quiet place in the hills.",
    "We live in peace. He wants a piece of cake, and a piece of bread with it.",
    "They may be late. Maybe the train is late, or it may be broken.",
    "The dog lost its bone, and it's sad. Its tail is still.",
)
"""Written for the tests; every confusion set that they use occurs."""
