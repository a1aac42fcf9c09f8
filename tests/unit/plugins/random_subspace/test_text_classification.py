"""20 Newsgroups and the experiments on it, with a small archive of synthetic documents."""

from __future__ import annotations

import io
import json
import lzma
import os
import tarfile
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from commands import here
from disambig_random_subspace.experiments import (
    ARCHIVE,
    ONE_SIDE,
    PARTS,
    SHIFTED,
    SUB_OF,
    TOP_OF,
    ProblemInstance,
    comparison as across,
    comparison as systems,
    count_words,
    figures as figure5,
    figures as figure6,
    newsgroups,
    pair_instances,
    read_corpus,
    sample_instances,
    table1,
)
from disambig_random_subspace.experiments.newsgroups import DIFFERENT

from disambig.errors import UserError
from disambig.experiments import as_json, from_json, result_lines
from disambig.types import Fitted


def make_document(rng, group):
    """Return a document whose words depend on its category, sub-domain and group."""
    top, sub = SUB_OF[group]
    words = [f"{top}word{n}" for n in rng.integers(0, 8, 5)]
    words += [f"{top}sub{sub}word{n}" for n in rng.integers(0, 5, 5)]
    words += [f"{group.replace('.', '')}{n}" for n in rng.integers(0, 4, 4)]
    words += [f"common{n}" for n in rng.integers(0, 20, 6)]
    return "Subject: caf\xe9\n\n" + " ".join(rng.permutation(words)) + "\n"


def make_files(documents=6, seed=0):
    """Return name and content of every file."""
    rng = np.random.default_rng(seed)
    places = product(PARTS, TOP_OF, range(documents))
    return {"/".join(map(str, place)): make_document(rng, place[1]).encode("latin-1") for place in places}


def write_archive(path, contents):
    """Write a tar.xz of files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


DATA = os.environ.get("DISAMBIG_DATA")


@pytest.fixture(scope="module")
def contents():
    return make_files()


def error_code(path):
    with pytest.raises(UserError) as caught:
        newsgroups.read_newsgroups(path)
    message = str(caught.value)
    assert "\n" not in message and str(path) in message
    return caught.value.code


def test_groups_and_instances_of_the_hierarchy():
    groups = [group for subs in newsgroups.HIERARCHY.values() for sub in subs for group in sub]
    assert len(groups) == len(set(groups)) == 20
    assert len({newsgroups.SUB_OF[group] for group in groups}) == 8
    assert len(SHIFTED) == 1944
    assert len({instance.train for instance in SHIFTED}) == 134
    assert len(ONE_SIDE) == 2 * 280
    assert len(DIFFERENT) == len(set(DIFFERENT)) == 3048
    example = ProblemInstance(
        ("comp.sys.mac.hardware", "rec.motorcycles"), ("comp.sys.ibm.pc.hardware", "rec.sport.baseball")
    )
    assert example in SHIFTED
    for train, test in SHIFTED:
        tops = [tuple(newsgroups.TOP_OF[group] for group in pair) for pair in (train, test)]
        assert tops[0] == tops[1] in list(combinations(newsgroups.HIERARCHY, 2))
        assert not set(train) & set(test)


def test_documents_are_read_by_part_and_group_in_order(tmp_path, contents):
    more = dict.fromkeys(("README", "20news-bydate-train/other.group/1", "20news-bydate-train/note"), b"x")
    write_archive(tmp_path / "a.tar.xz", dict(reversed((contents | more).items())))
    result = newsgroups.read_newsgroups(tmp_path / "a.tar.xz")
    assert set(result) == {(part, group) for part in ("train", "test") for group in newsgroups.TOP_OF}
    expected = [contents[f"20news-bydate-test/sci.med/{n}"].decode("latin-1") for n in range(6)]
    assert result["test", "sci.med"] == expected
    assert "caf\xe9" in expected[0]


def test_broken_archives(tmp_path, contents):
    path = tmp_path / "a.tar.xz"
    write_archive(path, contents)
    whole = path.read_bytes()
    for broken in (b"", b"no archive", whole[: len(whole) // 2], lzma.compress(b"no tar" * 1000)):
        path.write_bytes(broken)
        assert error_code(path) == "D308"
    inner = lzma.decompress(whole)
    path.write_bytes(lzma.compress(inner[: 512 + 40]))
    assert error_code(path) == "D308"
    assert error_code(tmp_path / "none.tar.xz") == "D300"


def test_archives_that_lack_documents(tmp_path, contents):
    fewer = {name: item for name, item in contents.items() if "test/rec.autos" not in name}
    write_archive(tmp_path / "a.tar.xz", fewer)
    assert error_code(tmp_path / "a.tar.xz") == "D731"
    for empty in ("sci.med", ""):
        blank = {name: b"! ?" if empty in name else item for name, item in contents.items()}
        write_archive(tmp_path / newsgroups.ARCHIVE, blank)
        with pytest.raises(UserError, match="D725"):
            read_corpus(tmp_path)


def test_samples():
    first = sample_instances(SHIFTED, 20, (1, 2))
    assert first == sample_instances(SHIFTED, 20, (1, 2)) == sorted(set(first))
    assert len(first) == 20
    assert first != sample_instances(SHIFTED, 20, (1, 3))
    assert sample_instances(SHIFTED[:7], 20, (1,)) == list(range(7))
    some = pair_instances(SHIFTED, 10)
    assert len({instance.train for instance in some}) == 14
    assert {item for item in SHIFTED if item.train in {some[0].train}} <= set(some)


def test_rows_equal_scikit_learn(contents):
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = {
        (part, group): [contents[f"{folder}/{group}/{n}"].decode("latin-1") for n in range(6)]
        for folder, part in newsgroups.PARTS.items()
        for group in newsgroups.TOP_OF
    }
    pair, tested = ("sci.med", "talk.politics.guns"), ["sci.space", "talk.religion.misc"]
    lesson = count_words(documents).training_pair(pair)
    train, test = lesson.batch("train", pair), lesson.batch("test", tested)
    alone = TfidfVectorizer()
    expected = alone.fit_transform([text for group in pair for text in documents["train", group]])
    assert np.allclose(train.rows.toarray(), expected.toarray())
    expected = alone.transform([text for group in tested for text in documents["test", group]])
    assert np.allclose(test.rows.toarray(), expected.toarray())
    assert test.costs.tolist() == [[0, 1]] * 6 + [[1, 0]] * 6
    assert len(test.columns) == 2 * test.rows.shape[1]
    documents = {("train", "sci.med"): ["aa bb"], ("train", "rec.autos"): ["cc dd"]}
    counted = count_words(documents | {("test", "sci.space"): ["bb ee"]})
    lesson = counted.training_pair(("rec.autos", "sci.med"))
    assert lesson.removed(counted.rows["test", "sci.space"]) == 0.75


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_the_real_archive_has_all_its_documents():
    documents = newsgroups.read_newsgroups(Path(str(DATA)) / newsgroups.ARCHIVE)
    sizes = {key: len(of_group) for key, of_group in documents.items()}
    assert sum(n for (part, _), n in sizes.items() if part == "train") == 11_314
    assert sum(n for (part, _), n in sizes.items() if part == "test") == 7_532
    assert sizes["train", "alt.atheism"] == 480
    assert sizes["test", "talk.religion.misc"] == 251


TRAIN = ("comp.graphics", "sci.med")


def ignore_progress(*_):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_archive(home / ARCHIVE, make_files())
    return home


@dataclass
class ConstantScorer:
    """Always scores one category above the other."""

    side: int

    def scores(self, batch):
        return np.tile(np.eye(2)[self.side], len(batch.costs))


def test_accuracies_are_of_the_documents_of_both_groups(data):
    counted = read_corpus(data)
    n = counted.rows["test", "sci.space"]
    counted.rows["test", "sci.space"] = n[:2]
    tested = "sci.space", "sci.crypt"
    instances = [ProblemInstance(TRAIN, ("comp.windows.x", group)) for group in tested]
    learned = []

    def learn(batch):
        learned.append(batch.rows.shape[0])
        return [Fitted(ConstantScorer(0)), Fitted(ConstantScorer(1))]

    result = across.system_accuracies(counted, instances, {"constant": learn}, progress=ignore_progress)
    assert learned == [12]
    assert result["constant"] == pytest.approx(np.array([[6 / 8, 2 / 8], [0.5, 0.5]]))


def test_systems_by_size_and_rate(data):
    instances = [item for item in SHIFTED if item.train == TRAIN]
    by_size, by_rate = systems.size_systems("P", (3, 5)), systems.rate_systems("P", (0.0, 0.1), 5)
    trials = {"by size": by_size, "by rate": by_rate}
    result = across.system_accuracies(read_corpus(data), instances, trials, progress=ignore_progress)
    assert result["by size"].shape == (len(instances), 3)
    assert (result["by size"].mean(axis=0) > 0.7).all()
    alone, nothing_removed, tenth = result["by rate"].T
    assert (alone == nothing_removed).all()
    assert (alone == result["by size"][:, 0]).all()
    assert (tenth == result["by size"][:, 2]).all()


def test_error_reductions():
    assert across.error_reduction(0.5, 0.75) == 0.5
    assert across.error_reduction(0.5, 0.25) == -0.5
    assert across.error_reduction(1.0, 1.0) == 0.0
    assert across.error_reduction(1.0, 0.9) == -1.0
    base, other = np.array([0.5, 0.8, 0.6]), np.array([0.7, 0.8, 0.5])
    result = across.compare_systems(base, other)
    assert (result["hurt"], result["helped"], result["n"]) == (1, 1, 3)
    assert result["other"] == pytest.approx(66.667)
    assert result["error_reduction"] == pytest.approx(100 * 0.1 / 1.1, abs=1e-3)
    assert across.error_reductions(base, other) == pytest.approx([0.4, 0.0, -0.25])
    pairs = [("a", "b"), ("a", "c"), ("a", "b")]
    instances = [ProblemInstance(pair, ("x", "y")) for pair in pairs]
    assert across.mean_by_training_pair(instances, np.array([0.2, 0.5, 0.4])) == pytest.approx([0.3, 0.5])


@pytest.mark.parametrize(
    "experiment", [table1.Sogaard2012Table1, figure5.Sogaard2012Figure5, figure6.Sogaard2012Figure6]
)
@pytest.mark.slow
def test_quick_experiments(data, monkeypatch, experiment):
    for module, name, every in ((table1, "EVERY", 40), (figure5, "EVERY", 40), (figure6, "QUICK_EVERY", 100)):
        monkeypatch.setattr(module, name, every)
    stages = []
    result = experiment().run(data=data, quick=True, progress=lambda *args: stages.append(args))
    assert stages[0][0] == "counting words" and stages[-1][0] == "learning"
    assert all(row.ours is not None and row.ours <= 100 for row in result.rows)
    assert result.claims and result.notes and result.panels
    assert result_lines(experiment().title, result)
    restored = json.loads(json.dumps(as_json("name", result)))
    assert as_json("name", from_json(restored)) == restored
    assert all(panel.lines or panel.points for panel in result.panels)


@pytest.mark.parametrize("name", ["table1", "figure5", "figure6"])
def test_error_of_the_command(tmp_path, name):
    path = tmp_path / ARCHIVE
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no archive")
    status, out, err = here("reproduce", f"sogaard2012.{name}", "--quick", "--data", tmp_path)
    assert (status, out, err.count("\n")) == (2, "", 1) and f"[D308] cannot read {path}" in err


def test_rows_of_table_1():
    shares = np.full((len(DIFFERENT), 1 + len(table1.SIZES)), 0.8)
    shares[:, 0] = 0.7
    shares[[DIFFERENT.index(item) for item in SHIFTED[:200]], -1] = 0.6
    result = table1.table1_figures("P", DIFFERENT, shares)
    rows = {(row.system, row.setting): row for row in table1.table1_rows("P", result)}
    assert len(rows) == 6 * len(table1.SIZES)
    first = rows["P-RLRS", "25"]
    assert (first.paper, first.ours, first.n) == (70.1, 80.0, 20)
    assert (rows["P: error reduction", "150"].paper, rows["P, all", "150"].paper) == (14, None)
    assert rows["P: error reduction, all", "25"].ours == pytest.approx(100 / 3, abs=1e-3)
    assert rows["P-RLRS, all", "250"].n == len(SHIFTED)
    assert rows["P-RLRS, all", "250"].ours == pytest.approx(80 - 20 * 200 / 1944, abs=1e-3)


def test_claims_of_table_1():
    instances = pair_instances(DIFFERENT, 4)
    shares = np.full((len(instances), 1 + len(table1.SIZES)), 0.7)

    def holds():
        figures = table1.table1_figures("P", instances, shares)
        return [claim.holds for claim in table1.table1_claims("P", figures)]

    shares[:, 1:] += 0.05 + 0.0001 * np.arange(len(table1.SIZES))
    assert holds() == [True] * 5
    shares[:, 2:] -= 0.1
    assert holds() == [False] * 5
    shares[:, 1:] = 0.7
    assert holds() == [False, False, False, True, False]


def test_rows_and_claims_of_figure_5():
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


def test_claims_of_figure_6():
    instances = pair_instances(SHIFTED, 10)
    n, at = len(instances), list(range(0, len(instances), 10))
    base = np.linspace(0.6, 0.8, n)
    alike = {"PA": base - 0.01, "CW": base.copy(), "SGD": base - 0.02, "P": base, "SGD-RLRS": base + 0.0001}
    alike["CW"][:3] += 0.06
    learners = figure6.learners_compared(alike, instances, at)
    assert [claim.holds for claim in learners] == [True, False, True, True]
    removed = np.linspace(0.5, 0.9, n)
    rates = np.tile(base[:, None], (1, len(figure6.RATES)))
    for more, holds in ((base + 0.01 + removed / 100, True), (base - removed / 100, False)):
        rates[:, figure6.MORE] = more
        both = figure6.rates_compared({"SGD": rates}, instances, removed, at)
        assert [claim.holds for claim in both] == [holds, holds]
    for mean, holds in ((base - 0.001, True), (base.copy(), False)):
        means = alike | {figure6.mean_name("SGD"): mean}
        (order,) = figure6.orders_compared(means, {"SGD": rates}, instances)
        assert order.holds is holds


def test_the_mean_over_one_order_is_the_base(data):
    batch = read_corpus(data).training_pair(TRAIN).batch("train", TRAIN)
    one_order, two_orders = (systems.order_systems("SGD", n) for n in (1, 2))
    trials = one_order, systems.single_system(systems.BASES["SGD"]), two_orders
    weights = [trial(batch)[0].scorer.state()["weights"] for trial in trials]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
