"""The text classification experiments on a made archive, and what they compute by themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from disambig_random_subspace.experiments import (
    ARCHIVE,
    SHIFTED,
    ProblemInstance,
    pair_instances,
    read_corpus,
    table1,
)
from disambig_random_subspace.experiments import comparison as across
from disambig_random_subspace.experiments import comparison as systems
from disambig_random_subspace.experiments import figures as figure5
from disambig_random_subspace.experiments import figures as figure6
from disambig_random_subspace.experiments.newsgroups import DIFFERENT
from made_newsgroups import members, pack

from disambig.cli import main
from disambig.experiments import as_json, from_json, result_lines
from disambig.types import Fitted

TRAIN = ("comp.graphics", "sci.med")


def silent(*said):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    pack(home / ARCHIVE, members())
    return home


@dataclass
class Constant:
    """Scores one category above the other, whatever the document."""

    side: int

    def scores(self, batch):
        return np.tile(np.eye(2)[self.side], len(batch.costs))


def test_accuracies_are_of_the_documents_of_both_groups(data):
    counted = read_corpus(data)
    n = counted.rows["test", "sci.space"]
    counted.rows["test", "sci.space"] = n[:2]
    instances = [
        ProblemInstance(TRAIN, ("comp.windows.x", "sci.space")),
        ProblemInstance(TRAIN, ("comp.windows.x", "sci.crypt")),
    ]
    learned = []

    def learn(batch):
        learned.append(batch.rows.shape[0])
        return [Fitted(Constant(0)), Fitted(Constant(1))]

    found = across.system_accuracies(counted, instances, {"constant": learn}, progress=silent)
    assert learned == [12]
    assert found["constant"] == pytest.approx(np.array([[6 / 8, 2 / 8], [0.5, 0.5]]))


def test_a_base_under_subspaces_does_better_on_made_documents_than_chance(data):
    instances = [each for each in SHIFTED if each.train == TRAIN]
    trials = {
        "by size": systems.size_systems("P", (3, 5)),
        "by rate": systems.rate_systems("P", (0.0, 0.1), 5),
    }
    found = across.system_accuracies(read_corpus(data), instances, trials, progress=silent)
    assert found["by size"].shape == (len(instances), 3)
    assert (found["by size"].mean(axis=0) > 0.7).all()
    alone, nothing_removed, tenth = found["by rate"].T
    assert (alone == nothing_removed).all()
    assert (alone == found["by size"][:, 0]).all()
    assert (tenth == found["by size"][:, 2]).all()


def test_error_reductions():
    assert across.error_reduction(0.5, 0.75) == 0.5
    assert across.error_reduction(0.5, 0.25) == -0.5
    assert across.error_reduction(1.0, 1.0) == 0.0
    assert across.error_reduction(1.0, 0.9) == -1.0
    base, other = np.array([0.5, 0.8, 0.6]), np.array([0.7, 0.8, 0.5])
    found = across.compare_systems(base, other)
    assert (found["hurt"], found["helped"], found["n"]) == (1, 1, 3)
    assert found["other"] == pytest.approx(66.667)
    assert found["error_reduction"] == pytest.approx(100 * 0.1 / 1.1, abs=1e-3)
    assert across.error_reductions(base, other) == pytest.approx([0.4, 0.0, -0.25])


def test_means_by_what_was_learned_from():
    pairs = [("a", "b"), ("a", "c"), ("a", "b")]
    instances = [ProblemInstance(pair, ("x", "y")) for pair in pairs]
    assert across.group_by_lesson(instances, np.array([0.2, 0.5, 0.4])) == pytest.approx([0.3, 0.5])


@pytest.mark.parametrize(
    "experiment", [table1.Sogaard2012Table1, figure5.Sogaard2012Figure5, figure6.Sogaard2012Figure6]
)
@pytest.mark.slow
def test_quick_form_on_a_made_archive(data, monkeypatch, experiment):
    for module, name, every in (
        (table1, "EVERY", 40),
        (figure5, "EVERY", 40),
        (figure6, "QUICK_EVERY", 100),
    ):
        monkeypatch.setattr(module, name, every)
    stages = []
    result = experiment().run(data=data, quick=True, progress=lambda *said: stages.append(said))
    assert stages[0][0] == "counting words" and stages[-1][0] == "learning"
    assert all(row.ours is not None and row.ours <= 100 for row in result.rows)
    assert result.claims and result.notes and result.panels
    assert result_lines(experiment().title, result)
    said = json.loads(json.dumps(as_json("name", result)))
    assert as_json("name", from_json(said)) == said
    assert all(panel.lines or panel.points for panel in result.panels)


@pytest.mark.parametrize("name", ["table1", "figure5", "figure6"])
def test_a_broken_archive_is_a_line_on_the_terminal(tmp_path, capsys, name):
    path = tmp_path / ARCHIVE
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no archive")
    with pytest.raises(SystemExit) as caught:
        main.run(["reproduce", f"sogaard2012.{name}", "--quick", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.out == "" and said.err.count("\n") == 1 and f"[D728] cannot read {path} as" in said.err


def test_rows_of_table_1_stand_beside_the_papers():
    shares = np.full((len(DIFFERENT), 1 + len(table1.SIZES)), 0.8)
    shares[:, 0] = 0.7
    shares[[DIFFERENT.index(each) for each in SHIFTED[:200]], -1] = 0.6
    found = table1.table1_figures("P", DIFFERENT, shares)
    rows = {(row.system, row.setting): row for row in table1.table1_rows("P", found)}
    assert len(rows) == 6 * len(table1.SIZES)
    first = rows["P-RLRS", "25"]
    assert (first.paper, first.ours, first.n) == (70.1, 80.0, 20)
    assert (rows["P: error reduction", "150"].paper, rows["P, all", "150"].paper) == (14, None)
    assert rows["P: error reduction, all", "25"].ours == pytest.approx(100 / 3, abs=1e-3)
    assert rows["P-RLRS, all", "250"].n == len(SHIFTED)
    assert rows["P-RLRS, all", "250"].ours == pytest.approx(80 - 20 * 200 / 1944, abs=1e-3)


def test_claims_of_table_1_follow_the_figures():
    instances = pair_instances(DIFFERENT, 4)
    shares = np.full((len(instances), 1 + len(table1.SIZES)), 0.7)
    shares[:, 1:] += 0.05 + 0.0001 * np.arange(len(table1.SIZES))
    holds = [
        claim.holds for claim in table1.table1_claims("P", table1.table1_figures("P", instances, shares))
    ]
    assert holds == [True] * 5
    shares[:, 2:] -= 0.1
    holds = [
        claim.holds for claim in table1.table1_claims("P", table1.table1_figures("P", instances, shares))
    ]
    assert holds == [False] * 5
    shares[:, 1:] = 0.7
    holds = [
        claim.holds for claim in table1.table1_claims("P", table1.table1_figures("P", instances, shares))
    ]
    assert holds == [False, False, False, True, False]


def test_figure_5_counts_what_is_hurt():
    some = [np.array([-10.0, -5.0, 0.0, 30.0])] * 6
    rows = {(row.system, row.setting): row.ours for row in figure5.figure5_rows("", some)}
    assert rows["instances hurt", "25"] == 50.0
    assert rows["highest error reduction", "250"] == 30.0
    seldom, most = figure5.figure5_claims(some, some)
    assert seldom.holds and not most.holds
    seldom, most = figure5.figure5_claims([np.r_[-np.ones(9), 71.0]] * 6, some)
    assert not seldom.holds and most.holds
    panel = figure5.figure5_panel(25, some[0], np.arange(100.0))
    assert panel.points["4 sampled"] == [(12.5, -10.0), (37.5, -5.0), (62.5, 0.0), (87.5, 30.0)]
    assert panel.lines["all 100"][0] == (0.0, 0.0) and panel.lines["all 100"][-1] == (100.0, 99.0)


def test_claims_of_figure_6_follow_the_figures():
    instances = pair_instances(SHIFTED, 10)
    n, at = len(instances), list(range(0, len(instances), 10))
    base = np.linspace(0.6, 0.8, n)
    alike = {"PA": base - 0.01, "CW": base.copy(), "SGD": base - 0.02, "P": base, "SGD-RLRS": base + 0.0001}
    alike["CW"][:3] += 0.06
    assert [claim.holds for claim in figure6.learners_compared(alike, instances, at)] == [
        True,
        False,
        True,
        True,
    ]
    removed = np.linspace(0.5, 0.9, n)
    rates = np.tile(base[:, None], (1, len(figure6.RATES)))
    rates[:, figure6.MORE] += 0.01 + removed / 100
    both = figure6.rates_compared({"SGD": rates}, instances, removed, at)
    assert [claim.holds for claim in both] == [True, True]
    rates[:, figure6.MORE] = base - removed / 100
    both = figure6.rates_compared({"SGD": rates}, instances, removed, at)
    assert [claim.holds for claim in both] == [False, False]
    alike |= {figure6.mean_name("SGD"): base - 0.001}
    assert [claim.holds for claim in figure6.orders_compared(alike, {"SGD": rates}, instances)] == [True]
    alike |= {figure6.mean_name("SGD"): base.copy()}
    assert [claim.holds for claim in figure6.orders_compared(alike, {"SGD": rates}, instances)] == [False]


def test_the_mean_over_one_order_is_the_base(data):
    batch = read_corpus(data).lesson(TRAIN).batch("train", TRAIN)
    weights = [
        trial(batch)[0].scorer.state()["weights"]
        for trial in (
            systems.order_systems("SGD", 1),
            systems.single_system(systems.BASES["SGD"]),
            systems.order_systems("SGD", 2),
        )
    ]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
