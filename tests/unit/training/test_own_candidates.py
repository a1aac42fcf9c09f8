"""Places of a text with candidates of their own: learned from text and from labels, flagged, not lost."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from toy_learners import MeanDifference

from disambig.data import CandidateLists, Group, Instances
from disambig.decision import default_rule_config
from disambig.errors import UserError
from disambig.features import NgramCounts
from disambig.formats import Labelled
from disambig.models import NoPreference
from disambig.text import Words, view_of_texts
from disambig.training import train, train_labelled
from disambig.types import Decides, RaisesFlags

GO = ("go", "goes", "went")
BE = ("is", "are")


@dataclass(frozen=True)
class Forms:
    """Decide between the forms of a word: as many as it has. "gone" is a place where none of them stands."""

    name: str = "forms"
    language: str = "en"
    decides: Decides = field(default=Decides("words", "own"))
    groups: tuple = (Group("forms", ()),)

    def instances(self, view):
        lists, positions, observed = [], [], []
        for at, (start, end) in enumerate(zip(view.starts, view.ends, strict=True)):
            word = view.texts[int(view.document_indices(np.array([at]))[0])][start:end].lower()
            own = GO if word in (*GO, "gone") else BE if word in BE else None
            if own is not None:
                lists.append(own)
                positions.append(at)
                observed.append(own.index(word) if word in own else -1)
        n = len(positions)
        return Instances(
            np.array(positions, np.int64),
            np.ones(n, np.int32),
            np.zeros(n, np.int32),
            np.array(observed, np.int32),
            CandidateLists.from_texts(lists),
        )


TEXTS = ["He goes home and we go home . They went home . The house is old and the houses are old ."] * 40


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    from disambig.counts import build_table

    path = build_table(tmp_path_factory.mktemp("own") / "own.counts", TEXTS, Words())
    return {
        "task": Forms(),
        "tokenisation": Words(),
        "extractors": {"counts": NgramCounts(counts=path)},
        "learner": MeanDifference(),
        "baseline": NoPreference(),
    }


def test_the_usual_judge_of_places_corrects():
    assert default_rule_config(Forms()) == {"@disambig_judges": "disambig.Corrections.v1"}


def test_forms_are_learned_and_corrected(parts):
    texts = {"train": [*TEXTS, "They have gone home ."], "dev": TEXTS}
    model = train(parts, texts, name="forms", min_examples=2, flags_per_1000=1.0)
    assert model.scorers[0] is not None and isinstance(model.judge, RaisesFlags)
    view = view_of_texts(["He go home . The house are old .", "They have gone home ."], Words())
    decided = model.decide(view, flags_per_1000=1000.0)
    assert [decided.candidate_texts(i) for i in range(len(decided))] == [GO, BE, GO]
    chosen = [decided.candidate_texts(i)[c] for i, c in enumerate(decided.chosen)]
    assert chosen[:2] == ["goes", "is"]
    assert decided.flagged.tolist() == [True, True, False]  # where none of them stands nothing is corrected


def examples():
    return [
        Labelled(text, text.index("go"), text.index("go") + 2, "goes", f"text {i}", f"made, line {i}")
        for i in range(20)
        for text in [f"He go home {i} ."]
    ]


def test_labels_are_those_of_the_places_own_list(parts):
    model = train_labelled(parts, examples(), name="forms", min_examples=2)
    assert model.provenance["examples"]["account"]["used"] == 20
    with pytest.raises(UserError, match="not one of 'go', 'goes', 'went'"):
        strange = [Labelled("He go home .", 3, 5, "swims", "a", "made")]
        train_labelled(parts, strange, name="forms")
