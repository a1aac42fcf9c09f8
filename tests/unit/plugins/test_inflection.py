"""Regular inflections of English: what spelling asks for, and nothing for what is no word."""

from __future__ import annotations

import pytest
from disambig_kernel_rls.senses import inflections
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("word", "part", "forms"),
    [
        ("bank", "n", "bank banks"),
        ("church", "n", "church churches"),
        ("bus", "n", "bus buses"),
        ("city", "n", "city cities"),
        ("day", "n", "day days"),
        ("potato", "n", "potato potatos potatoes"),
        ("radio", "n", "radio radios"),
        ("call", "v", "call calls called calling"),
        ("use", "v", "use uses used using"),
        ("see", "v", "see sees seed seeing"),
        ("die", "v", "die dies died dying"),
        ("carry", "v", "carry carries carried carrying"),
        ("play", "v", "play plays played playing"),
        ("stop", "v", "stop stops stopped stopping"),
        ("fix", "v", "fix fixes fixed fixing"),
        ("quit", "v", "quit quits quitted quitting"),
        ("treat", "v", "treat treats treated treating"),
        ("develop", "v", "develop develops developped developed developping developing"),
        ("panic", "v", "panic panics panicked panicced paniced panicking paniccing panicing"),
        ("green", "a", "green greener greenest"),
        ("fine", "j", "fine finer finest"),
        ("big", "a", "big bigger biggest"),
        ("happy", "a", "happy happier happiest"),
        ("natural", "a", "natural"),
        ("soon", "r", "soon sooner soonest"),
        ("Bank", "n", "bank banks"),
        ("x-ray", "n", "x-ray"),
        ("a", "n", "a"),
        ("bank", "x", "bank"),
        ("bank", "", "bank"),
    ],
)
def test_forms(word, part, forms):
    found = inflections(word, part)
    wanted = forms.split()
    if word == "panic":  # the right one is among them
        assert {"panicked", "panicking"} <= set(found)
    else:
        assert sorted(found) == sorted(wanted)


@given(st.text(max_size=8), st.sampled_from(["n", "v", "a", "r", "x", ""]))
def test_every_word_is_its_own_form_once(word, part):
    found = inflections(word, part)
    assert found[0] == word.lower() and len(set(found)) == len(found) <= 9
