"""How the heads of one place are looked for, word by word: plain Python, which `heads_kernels` compiles."""

from __future__ import annotations

from typing import Any

NOUN, VERB, NOUN_OR_VERB, GERUND, PARTICIPLE, ADJECTIVE, ADVERB, DETERMINER, PRONOUN, OTHER = range(10)
MOST = 8
"""Words that each step looks at."""
LEFT, RIGHT = 2 * MOST + 1, MOST + 1
"""Words on each side of the place that are ever looked at."""


def find_one(kinds: Any, found: Any) -> None:
    """Fill governor, verb and object of one place, as indices in `kinds`, -1 where there is none.

    `kinds` are those of the `LEFT` tokens before the place and the `RIGHT` ones behind it (see
    `parts_of_speech`); a sentence begins and ends with *other* ones, and there is nothing else beyond.
    """
    governor = LEFT - 1
    for i in range(LEFT - 1, LEFT - 1 - MOST, -1):
        if kinds[i] == OTHER:
            break
        if kinds[i] != ADVERB and kinds[i] != PRONOUN and kinds[i] != DETERMINER:
            governor = i
            break
    found[0] = governor
    found[1] = -1
    if kinds[governor] == NOUN or kinds[governor] == NOUN_OR_VERB:
        for i in range(governor - 1, governor - 1 - MOST, -1):
            if kinds[i] == OTHER:
                break
            takes_object = kinds[i] == NOUN_OR_VERB and kinds[i + 1] == DETERMINER
            if takes_object or kinds[i] == VERB or kinds[i] == GERUND or kinds[i] == PARTICIPLE:
                found[1] = i
                break
    head, beyond = -1, LEFT
    for i in range(LEFT, LEFT + MOST):
        if kinds[i] == NOUN or kinds[i] == NOUN_OR_VERB:
            head = i
        elif head >= 0 or kinds[i] == OTHER or kinds[i] == VERB:
            break
        elif kinds[i] == PRONOUN:
            head = i
            break
        elif kinds[i] == GERUND:
            after = kinds[i + 1]
            if after in (DETERMINER, PRONOUN, OTHER):  # what it governs, or nothing
                head = i
                break
        beyond = i
    found[2] = head if head >= 0 else beyond
