"""Documents of labelled examples: equal texts are never split, whatever documents they say they are of."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import Labelled
from disambig.training import document_numbers

EXAMPLES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("123456")), max_size=25)


def example(text, document):
    return Labelled(text, 0, 1, "x", document)


def connected(pairs):
    """The sets of examples that hang together by a text or a document, by brute force."""
    sets = [{i} for i in range(len(pairs))]
    changed = True
    while changed:
        changed = False
        for a in range(len(sets)):
            for b in range(a + 1, len(sets)):
                if any(
                    pairs[i][0] == pairs[j][0] or pairs[i][1] == pairs[j][1] for i in sets[a] for j in sets[b]
                ):
                    sets[a] |= sets.pop(b)
                    changed = True
                    break
            if changed:
                break
    return {frozenset(each) for each in sets}


@given(EXAMPLES)
def test_what_has_a_text_or_a_document_in_common_is_one_document(pairs):
    numbers = document_numbers([example(*pair) for pair in pairs])
    found = {frozenset(np.flatnonzero(numbers == n).tolist()) for n in numbers}
    assert found == connected(pairs)
    assert sorted(set(numbers.tolist())) == list(range(len(found)))


@given(EXAMPLES, st.randoms())
def test_the_order_of_examples_splits_nothing_else(pairs, random):
    order = list(range(len(pairs)))
    random.shuffle(order)
    numbers = document_numbers([example(*pairs[i]) for i in order])
    found = {frozenset(order[i] for i in np.flatnonzero(numbers == n)) for n in numbers}
    assert found == connected(pairs)


@given(st.lists(st.sampled_from("123456789"), max_size=20))
def test_without_equal_texts_documents_are_those_that_are_named(names):
    numbers = document_numbers([example(f"text {i}", name) for i, name in enumerate(names)])
    by_name = dict(zip(names, numbers.tolist(), strict=True))
    assert numbers.tolist() == [by_name[name] for name in names]
    again = document_numbers([example(f"other {i}", name) for i, name in enumerate(sorted(names))])
    assert dict(zip(sorted(names), again.tolist(), strict=True)) == by_name  # the name alone gives the number


def test_a_chain_of_common_texts_is_one_document():
    chain = [example(str(i // 2), str((i + 1) // 2)) for i in range(400)]
    assert all(a.text == b.text or a.document == b.document for a, b in pairwise(chain))
    assert set(document_numbers(chain).tolist()) == {0}
