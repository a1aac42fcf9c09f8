"""Learning curves and genre shift on made data, and what they compute by themselves."""

from __future__ import annotations

import json
import tarfile

import numpy as np
import pytest
from disambig_kernel_rls.experiments import (
    AS_MANY,
    KIND_OF,
    KINDS,
    MFS,
    OTHER,
    SAME,
    curves,
    genre_folds,
    genres,
)
from disambig_kernel_rls.experiments import genres as genre_claims
from disambig_kernel_rls.experiments import genres as noad
from disambig_kernel_rls.experiments import senseval as editions
from made_senses import write_noad, write_senseval

from disambig.cli import main
from disambig.experiments import as_json, from_json, result_lines


def silent(*said):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_senseval(home, editions.SENSEVAL_2, n_train=14)
    write_noad(home / noad.ARCHIVE)
    return home


def plain(result, title):
    """Check that a result can be shown, and goes to JSON and back."""
    assert result_lines(title, result) and result.claims and result.panels and result.notes
    said = json.loads(json.dumps(as_json("name", result)))
    assert as_json("name", from_json(said)) == said
    return {(row.system, row.setting): row for row in result.rows}


def test_curves_on_a_made_sample(data):
    stages = []
    result = curves.Popescu2004Curves().run(
        data=data, quick=False, progress=lambda *said: stages.append(said)
    )
    rows = plain(result, "curves")
    assert stages[0][0] == "reading Senseval-2" and stages[-1][0] == "learning"
    assert {setting for _, setting in rows} == {"5", "10", "all"}  # no word has more than 14
    comb = [rows["RLSC-COMB", setting].ours for setting in ("5", "10", "all")]
    assert comb[2] > 90 and comb[0] < comb[2]
    assert rows["RLSC-COMB", "all"].ours == rows["RLSC-COMB, words of fewer than 100", "all"].ours
    assert rows["RLSC-COMB", "5"].spread > 0 and rows["RLSC-COMB", "all"].spread is None
    assert [place[0] for place in result.panels[0].lines["SVM-COMB"]] == [5, 10, 14]
    assert all(panel.logarithmic for panel in result.panels)
    assert len(result.details["RLSC-COMB"]["all"]) == 3


def test_a_size_that_a_word_does_not_have_is_all_of_it(data):
    sample = editions.read_edition(editions.SENSEVAL_2, data, quick=True)
    found = curves.training_shares(sample, 2, progress=silent)
    assert set(found) == {MFS, *curves.SYSTEMS}
    each = found["RLSC-COMB"]
    assert each.shape == (3, len(curves.SIZES) + 1, 2)
    beyond = each[:, curves.SIZES.index(25) :]
    assert (beyond == beyond[:, :1, :1]).all()


def test_accuracies_weigh_words_by_their_test_instances():
    each = np.zeros((2, len(curves.SIZES) + 1, 2))
    each[0], each[1, :, 1] = 1.0, 0.5
    has, tests = np.array([30, 120]), np.array([10, 30])
    rows = curves.curve_rows("", {"x": each}, np.ones(2, bool), has, tests)
    first = rows[0]
    assert (first.setting, first.ours, first.n) == ("5", pytest.approx((25 + 62.5) / 2), 40)
    assert first.spread == pytest.approx((62.5 - 25) / 2)
    assert [row.setting for row in rows] == ["5", "10", "25", "50", "100", "all"]
    assert list(curves.word_classes(has)) == ["", "words of fewer than 100", "words of 100 to 149"]


def test_claims_of_the_curves_follow_the_figures():
    has, tests = np.full(40, 160), np.full(40, 5)
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.3, (40, len(curves.SIZES) + 1, 2))
    rise = np.linspace(0, 0.3, len(curves.SIZES) + 1)[None, :, None]
    found = {
        name: base + rise + up
        for name, up in zip((MFS, *curves.SYSTEMS), (0, 0.1, 0.2, 0.15, 0.3), strict=True)
    }
    assert [claim.holds for claim in curves.curve_claims(found, has, tests)] == [True] * 5
    found["RLSC-COMB"] = base - 0.1
    assert [claim.holds for claim in curves.curve_claims(found, has, tests)] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_every_genre_is_of_one_kind():
    assert len(KIND_OF) == sum(map(len, KINDS.values())) == 20


def test_folds_never_share_documents_and_are_of_equal_size():
    rng = np.random.default_rng(1)
    kinds = rng.choice(list(KINDS), 600).tolist()
    documents = [f"{kind}{rng.integers(0, 12)}" for kind in kinds]
    words = rng.integers(0, 3, 600)
    found = genre_folds(words, kinds, documents, least=10)
    assert {(fold.word, fold.kind) for fold in found} == {(w, k) for w in range(3) for k in KINDS}
    for fold in found:
        of = {name: {documents[row] for row in rows} for name, rows in fold.train.items()}
        tested = {documents[row] for row in fold.test}
        assert not tested & of[SAME] and not tested & of[OTHER]
        assert {kinds[row] for row in (*fold.test, *fold.train[SAME])} == {fold.kind}
        assert fold.kind not in {kinds[row] for row in fold.train[OTHER]}
        assert len(fold.train[AS_MANY]) == len(fold.train[SAME]) == len(set(fold.train[AS_MANY]))
        assert set(fold.train[AS_MANY]) <= set(fold.train[OTHER])
        assert {int(words[row]) for row in (*fold.test, *fold.train[OTHER])} == {fold.word}
    assert genre_folds(words, kinds, documents, least=100) == []


def test_genres_on_a_made_corpus(data):
    stages = []
    result = genres.Popescu2004Genres().run(
        data=data, quick=False, progress=lambda *said: stages.append(said)
    )
    rows = plain(result, "genres")
    assert stages[0][0] == "reading NOAD-MASC" and stages[-1][0] == "learning"
    assert {system for system, _ in rows} == {MFS, *genres.SYSTEMS}
    assert rows[MFS, AS_MANY].ours == pytest.approx(100 * 2 / 3)
    assert all(rows[system, AS_MANY].ours > 70 for system in genres.SYSTEMS)
    assert rows["RLSC-COMB", AS_MANY].ours > 90
    assert {row.n for (_, setting), row in rows.items() if setting == SAME} == {3 * 4 * 48}
    assert any(claim.claim.startswith("P-RLRS, 10 % gains more over P") for claim in result.claims)
    assert [panel.title.partition(" (")[0] for panel in result.panels] == list(KINDS)
    for panel, kind in zip(result.panels, KINDS, strict=True):
        assert set(panel.points) == set(genres.SYSTEMS)  # the most frequent sense is in the title
        each = {(row.system, row.setting): row.ours for row in result.rows}
        ((_, other),) = panel.points["RLSC-COMB"]
        assert other == round(each["RLSC-COMB", f"tested: {kind}"], 2)
        assert panel.title.endswith(f", {each['most frequent sense', f'tested: {kind}']:.1f})")


def test_the_quick_form_takes_fewer_words(data):
    result = genres.Popescu2004Genres().run(data=data, quick=True, progress=silent)
    assert "of 1 words" in result.notes[0]


def test_claims_of_genres_follow_the_figures():
    words = np.repeat(np.arange(20), 50)
    rivals = {"SGD": ["SGD-RLRS"]}

    def hits(share):
        return np.tile(np.arange(50) < 50 * share, 20)

    other = {MFS: 0.5, "RLSC-COMB": 0.9, "SVM-COMB": 0.7, "SGD": 0.6, "SGD-RLRS": 0.8}
    found = {
        name: {
            SAME: hits(share if name == "SGD-RLRS" else share + 0.06),
            AS_MANY: hits(share),
            OTHER: hits(share + 0.04),
        }
        for name, share in other.items()
    }
    assert [claim.holds for claim in genre_claims.genre_claims(found, words, rivals)] == [True] * 9
    turned = {
        name: {SAME: of[AS_MANY], AS_MANY: of[AS_MANY], OTHER: of[AS_MANY]} for name, of in found.items()
    }
    turned["RLSC-COMB"] = dict.fromkeys(turned["RLSC-COMB"], hits(0.4))
    holds = [claim.holds for claim in genre_claims.genre_claims(turned, words, rivals)]
    assert holds == [False, True, True, False, False, False, True, False, False]
    by_word = genre_claims.mean_by_word(np.array([True, False, True]), np.array([4, 4, 9]))
    assert by_word == pytest.approx([0.5, 1.0])


def test_too_small_a_corpus_is_said(tmp_path, capsys):
    write_noad(tmp_path / noad.ARCHIVE, documents=1, each=3)
    with pytest.raises(SystemExit) as caught:
        main.run(["reproduce", "popescu2004.genres", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert caught.value.code == 2 and said.err.count("\n") == 1 and "[D738]" in said.err


def test_a_broken_corpus_is_a_line_on_the_terminal(tmp_path, capsys):
    path = tmp_path / noad.ARCHIVE
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:xz"):
        pass
    with pytest.raises(SystemExit) as caught:
        main.run(["reproduce", "popescu2004.genres", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert caught.value.code == 2 and said.out == "" and "[D490]" in said.err
