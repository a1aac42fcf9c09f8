"""Counts of another language than the task or its text are named before the training, and in the notes."""

from __future__ import annotations

import pytest

from disambig.packs import available
from disambig.training import run

CONFIG = """
[model]
name = "words"

[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["{0}", "{1}"]
name = "words"
language = "{2}"

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.counts]
@disambig_extractors = "disambig.NgramCounts.v1"
counts = "disambig_en"

[learner]
@disambig_learners = "variance_svm.SumLM.v1"

[baseline]
@disambig_learners = "variance_svm.SumLM.v1"

[training]
lines = true
"""
GERMAN = (
    "Wir warten auf den Bus, der heute schon wieder zu spät kommt.",
    "Das alte Haus mit dem grünen Dach steht neben einer kleinen Kirche.",
    "Die Kinder spielen auf der Wiese und freuen sich über das schöne Wetter.",
    "Er schreibt mit einem Bleistift, weil er seine Fehler sonst nicht verbessern kann.",
)
ENGLISH = (
    "We took the bus, which is late again today, because it was raining.",
    "They bring flowers to the old house with the green roof near the church.",
    "The children take their toys outside and enjoy the good weather.",
    "He can bring a pencil, since otherwise he cannot correct his mistakes.",
)

pytestmark = pytest.mark.skipif("spelling" not in available(), reason="needs the English pack")


@pytest.mark.parametrize(
    ("lines", "candidates", "language", "note"),
    [
        (
            GERMAN,
            ("auf", "mit"),
            "de",
            "the counts english.counts are of the language 'en', but the task 'words'",
        ),
        (GERMAN, ("auf", "mit"), "", "of the words of the text ("),
        (ENGLISH, ("bring", "take"), "en", ""),
        (ENGLISH, ("bring", "take"), "", ""),
    ],
)
def test_counts_of_another_language(tmp_path, lines, candidates, language, note):
    (tmp_path / "words.cfg").write_text(CONFIG.format(*candidates, language))
    text = "".join(f"{number} {line}\n" for number in range(30) for line in lines)
    (tmp_path / "words.txt").write_text(text, encoding="utf8")
    told: list[str] = []
    model = run(tmp_path / "words.cfg", text=[str(tmp_path / "words.txt")], tell=told.append)
    notes = [one for one in model.provenance.get("notes", ()) if "counts" in one]
    assert notes == told
    assert len(told) == (1 if note else 0)
    assert all(note in one for one in told)
