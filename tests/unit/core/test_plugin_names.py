"""A plugin cannot break another: whose a name is, and who loses where two claim it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from itertools import permutations

import pytest

from disambig.errors import UserError
from disambig.namespaces import Namespaces, sort_entry_points


@dataclass(frozen=True)
class Dist:
    name: str


def entry(name, dist=None, value=None):
    made = EntryPoint(name, value or f"{name}_module", "disambig")
    vars(made)["dist"] = Dist(dist) if dist else None
    return made


CORE = entry("core", "disambig", "disambig.builtin")
OURS = entry("variance_svm", "disambig")
ANT = entry("ant", "ant-eater")
BEE = entry("bee", "Bee.Keeper")


@pytest.mark.parametrize("entries", list(permutations([CORE, OURS, ANT, BEE])))
def test_the_order_of_claims_is_not_that_of_installation(entries):
    assert sort_entry_points(entries) == [CORE, OURS, ANT, BEE]


def test_an_entry_point_that_calls_itself_core_is_not_the_core():
    false = entry("core", "aaa", "aaa.plugin")
    claims = Namespaces(order := sort_entry_points([false, CORE]))
    assert order == [CORE, false]
    with pytest.raises(UserError, match=r"D008.*from aaa is ignored, since the one from disambig was loaded"):
        claims.check_name(false)
    claims.check_name(CORE)


def test_an_entry_point_seen_twice_is_one():
    again = entry("variance_svm", "zoo", OURS.value)
    for entries in permutations([again, OURS, CORE]):
        assert [each.dist.name for each in sort_entry_points(entries)] == ["disambig", "disambig"]


ALLOWED = [
    (CORE, "tokenisations", "web1t.v1"),
    (CORE, "learners", "disambig.NoPreference.v1"),
    (OURS, "learners", "variance_svm.VarianceSVM.v1"),
    (OURS, "experiments", "bergsma2010.table1.v1"),
    (ANT, "learners", "ant.Learner.v1"),
    (ANT, "learners", "ant_eater.Learner.v1"),
    (BEE, "tasks", "bee_keeper.Hives.v1"),
    (BEE, "experiments", "bee.table1.v1"),
]


@pytest.mark.parametrize(("who", "kind", "name"), ALLOWED)
def test_names_that_begin_with_ones_own(who, kind, name):
    Namespaces(sort_entry_points([BEE, ANT, OURS, CORE])).check(who, kind, name)


REFUSED = [
    (ANT, "learners", "bee.Learner.v1", "'bee' is Bee.Keeper's; its names must begin with ant."),
    (BEE, "learners", "ant_eater.Learner.v1", "'ant_eater' is ant-eater's"),
    (ANT, "learners", "disambig.Learner.v1", "'disambig' is disambig's"),
    (BEE, "tokenisations", "web1t.v1", "'web1t' is disambig's"),
    (ANT, "learners", "smith2020.Learner.v1", "'smith2020' is not its name"),
    (ANT, "experiments", "bee.table1.v1", "'bee' is Bee.Keeper's"),
    (BEE, "experiments", "variance_svm.table1.v1", "'variance_svm' is disambig's"),
    (OURS, "learners", "core2.Learner.v1", "'core2' is not its name"),
]


@pytest.mark.parametrize(("who", "kind", "name", "said"), REFUSED)
def test_names_of_others_are_refused(who, kind, name, said):
    with pytest.raises(UserError) as caught:
        Namespaces(sort_entry_points([CORE, OURS, ANT, BEE])).check(who, kind, name)
    assert caught.value.code == "D006"
    assert said in str(caught.value)


def test_a_paper_belongs_to_whom_repeats_it_first():
    claims = Namespaces([CORE, OURS, ANT, BEE])
    claims.check(ANT, "experiments", "smith2020.table1.v1")
    claims.reserve(ANT, ["smith2020.table1.v1"])
    claims.check(ANT, "experiments", "smith2020.table2.v1")
    with pytest.raises(UserError, match=r"D006.*'smith2020' is ant-eater's"):
        claims.check(BEE, "experiments", "smith2020.table3.v1")


def test_a_distribution_cannot_take_the_name_of_a_plugin_that_was_there():
    thief = entry("zebra", "variance-svm")
    claims = Namespaces(sort_entry_points([thief, OURS, CORE]))
    with pytest.raises(UserError, match="D006"):
        claims.check(thief, "learners", "variance_svm.VarianceSVM.v1")
    claims.check(thief, "learners", "zebra.Learner.v1")
    claims.check(OURS, "learners", "variance_svm.VarianceSVM.v1")


def test_of_two_plugins_of_one_name_the_newcomer_loses():
    second = entry("Ant", "zoo")
    claims = Namespaces(sort_entry_points([second, ANT]))
    claims.check_name(ANT)
    with pytest.raises(UserError, match=r"D008.*'Ant'.*from zoo is ignored, since the one from ant-eater"):
        claims.check_name(second)
