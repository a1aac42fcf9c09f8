"""A plan of one's own: who sees what is said by it, all else is the trainer's."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from toy_learners import Constant, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs

from disambig.decision import Corrections, Labels
from disambig.errors import UserError
from disambig.models import LinearScorer
from disambig.text import Words
from disambig.training import (
    HeldOutCalibration,
    HeldOutResampling,
    TextExamples,
    train,
    train_by,
    train_labelled,
)
from disambig.types import Fitted

TEXTS = [
    "It was quite good. The room is quiet now.",
    "He is quite sure. A quiet place is nice.",
    "I am quite happy. The quiet street is long.",
    "You are quite right. Keep quiet now, please.",
] * 3


def parts(task=None, **changes):
    return {
        "task": task or Pairs(("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {"near": NearbyWords()},
        "learner": Perceptron(),
        "baseline": Constant(),
    } | changes


def examples(texts=TEXTS):
    view = Words()(texts)
    return TextExamples.from_view(view, Pairs(("quite/quiet",)).instances(view))


@dataclass
class OnlyTheFirst:
    """A plan of its own: it prepares itself, learns from the first few examples, judges by the others."""

    n: int
    said: list = field(default_factory=list)

    def prepare(self, parts, tell):
        tell("preparing", 0, 1)
        self.all = examples()
        groups = parts["task"].groups
        self.extractors = tuple(
            e.fit(self.all.view, self.all.instances.take(slice(0, self.n)), groups)
            for e in parts["extractors"].values()
        )
        return self

    def shared(self, model, learner, rng):
        self.said.append("shared")
        return None

    def fit(self, model, learner, group, rng):
        self.said.append(("fit", group, model.scorers))
        features = self.all.features(np.arange(self.n), group, model.task, self.extractors)
        found = learner.fit(features.batch, rng=rng)
        return found.scorer, {"examples": self.n, **found.report}

    def material(self, model, rng):
        self.said.append(("material", tuple(type(scorer) for scorer in model.scorers)))
        others = self.all.instances.take(slice(self.n, None))
        return HeldOutCalibration(model, TextExamples.from_view(self.all.view, others), rng)

    def provenance(self, model):
        self.said.append(("provenance", type(model.judge)))
        return {"examples": {"mine": self.n}, "settings": {"n": self.n}}


def test_a_plan_is_asked_in_order_and_what_it_gives_is_the_model():
    plan, told = OnlyTheFirst(8), []
    model = train_by(
        plan,
        parts(),
        name="mine",
        version="3",
        seed=5,
        flags_per_1000=2.0,
        nothing_of_the_judge=1,
        progress=lambda *step: told.append(step),
    )
    assert plan.said == [
        ("fit", 0, (None,)),
        ("material", (LinearScorer,)),
        ("provenance", Corrections),
    ]
    assert (model.name, model.version, model.flags_per_1000) == ("mine", "3", 2.0)
    assert model.extractors is plan.extractors
    assert model.provenance["examples"] == {"mine": 8}
    assert model.provenance["settings"] == {"n": 8, "seed": 5}
    assert model.provenance["groups"] == {"quite/quiet": {"examples": 8, "mistakes": 0}}
    assert {stage for stage, *_ in told} >= {"preparing", "learning", "calibrating", "setting thresholds"}
    assert model.judge.calibration.groups.shape == (1, 4)  # fitted, to the others
    decided = model.decide(Words()(["The quiet street."]))
    assert len(decided) == 1


def test_a_plan_of_the_cores_gives_what_train_gives():
    texts = {"train": TEXTS, "dev": TEXTS[:4]}
    one = train(parts(), texts, name="t", min_examples=2, max_examples=50, seed=3)
    learn, tune = examples(), examples(TEXTS[:4])
    plan = HeldOutResampling(learn, tune, learn, max_examples=50, min_examples=2)
    other = train_by(plan, parts(), name="t", seed=3, max_examples=50)
    assert np.array_equal(one.scorers[0].weights, other.scorers[0].weights)
    for name, array in one.judge.state().items():
        assert np.array_equal(array, other.judge.state()[name]), name
    assert one.provenance == other.provenance


def test_a_config_may_name_the_judge_and_settings_are_those_that_it_has():
    given = Corrections(flags_per_1000=4.0, max_examples=7)
    model = train_by(OnlyTheFirst(8), parts(judge=given), name="t")
    assert (model.judge.flags_per_1000, model.judge.max_examples) == (4.0, 7)
    model = train_by(OnlyTheFirst(8), parts(judge=given), name="t", max_examples=9)
    assert (model.judge.flags_per_1000, model.judge.max_examples) == (4.0, 9)
    labels = train_by(OnlyTheFirst(8), parts(Marks(("quite/quiet",))), name="t", least_margin=0.5)
    assert isinstance(labels.judge, Labels) and labels.judge.least_margin == 0.5


@dataclass(frozen=True)
class Sharing(Perceptron):
    """Learns weights of all groups together, and remembers that it was drawn to them."""

    drawn: object = None

    def fit_shared(self, batches):
        return LinearScorer(np.zeros(len(batches[0].columns)))

    def with_prior(self, shared):
        return Sharing(drawn=shared)

    def shared_from_state(self, arrays):
        return LinearScorer.from_state(arrays)

    def fit(self, batch, *, dev=None, rng=None):
        found = super().fit(batch, dev=dev, rng=rng)
        return Fitted(found.scorer, {"drawn": self.drawn is not None})


def test_what_groups_share_is_asked_for_only_where_there_are_several():
    plan = OnlyTheFirst(8)
    model = train_by(plan, parts(learner=Sharing()), name="t")
    assert "shared" not in plan.said and model.shared is None

    class Two(OnlyTheFirst):
        def shared(self, model, learner, rng):
            features = self.all.features(np.arange(8), 0, model.task, self.extractors)
            return learner.fit_shared([features.batch])

        def material(self, model, rng):
            return HeldOutCalibration(model, self.all, rng)

        def fit(self, model, learner, group, rng):
            return super().fit(model, learner, group, rng) if group == 0 else (None, {"examples": 0})

    two = Pairs(("quite/quiet", "peace/piece"))
    model = train_by(Two(8), parts(two, learner=Sharing()), name="t")
    assert isinstance(model.shared, LinearScorer) and model.scorers[1] is None
    assert model.provenance["groups"]["quite/quiet"]["drawn"] is True


def test_a_task_that_says_nonsense_of_what_it_decides_is_named():
    class Odd(Pairs):
        decides = "labels"

    with pytest.raises(
        UserError, match=r"D414.*the task Odd: decides is 'labels'; the contract says a Decides"
    ):
        train_labelled(parts(Odd()), [], name="t")
