"""Documents of labelled examples: equal texts are never split, whatever documents they say they are of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import Labelled
from disambig.training import document_numbers

EXAMPLES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("123456")), max_size=25)


def example(text, document):
    return Labelled(text, 0, 1, "x", document)


@given(EXAMPLES)
def test_copies_of_a_text_are_together_and_documents_apart(pairs):
    numbers = document_numbers([example(*pair) for pair in pairs]).tolist()
    documents = {}  # the names of the documents that each text stands in
    for text, name in pairs:
        documents.setdefault(text, set()).add(name)
    by_text = dict(zip((text for text, _ in pairs), numbers, strict=True))
    assert numbers == [by_text[text] for text, _ in pairs]
    names = {}  # the names that each number may stand for
    for text, number in by_text.items():
        names[number] = names.get(number, documents[text]) & documents[text]
    assert all(names.values())
    assert sorted(names) == list(range(len(names)))
    alone = {next(iter(of)): by_text[text] for text, of in documents.items() if len(of) == 1}
    assert len(set(alone.values())) == len(alone)


@given(EXAMPLES, st.randoms())
def test_the_order_of_examples_does_not_matter(pairs, random):
    order = list(range(len(pairs)))
    random.shuffle(order)
    numbers = document_numbers([example(*pair) for pair in pairs])
    again = document_numbers([example(*pairs[i]) for i in order])
    assert again.tolist() == numbers[order].tolist() if order else not len(again)


@given(st.lists(st.sampled_from("123456789"), max_size=20))
def test_without_equal_texts_documents_are_those_that_are_named(names):
    numbers = document_numbers([example(f"text {i}", name) for i, name in enumerate(names)])
    by_name = dict(zip(names, numbers.tolist(), strict=True))
    assert numbers.tolist() == [by_name[name] for name in names]
    again = document_numbers([example(f"other {i}", name) for i, name in enumerate(sorted(names))])
    assert dict(zip(sorted(names), again.tolist(), strict=True)) == by_name  # the name alone gives the number


def test_a_text_of_all_documents_does_not_join_them():
    pairs = [(text, str(n)) for n in range(30) for text in ("Thanks.", f"Letter {n}.")]
    numbers = document_numbers([example(*pair) for pair in pairs])
    assert len(set(numbers[1::2].tolist())) == 30
    assert len(set(numbers[::2].tolist())) == 1
