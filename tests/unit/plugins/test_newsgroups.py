"""20 Newsgroups: an archive that is read or refused, instances counted, rows against scikit-learn's."""

from __future__ import annotations

import lzma
import os
import tarfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from disambig_random_subspace.experiments import (
    ONE_SIDE,
    SHIFTED,
    ProblemInstance,
    count_words,
    newsgroups,
    pair_instances,
    read_corpus,
    sample_instances,
)
from disambig_random_subspace.experiments.newsgroups import DIFFERENT
from made_newsgroups import members, pack

from disambig.errors import UserError

DATA = os.environ.get("DISAMBIG_DATA")


@pytest.fixture(scope="module")
def contents():
    return members()


def refused(path):
    with pytest.raises(UserError) as caught:
        newsgroups.read_newsgroups(path)
    said = str(caught.value)
    assert "\n" not in said and str(path) in said
    return caught.value.code


def test_the_hierarchy_has_every_group_once():
    groups = [group for subs in newsgroups.HIERARCHY.values() for sub in subs for group in sub]
    assert len(groups) == len(set(groups)) == 20
    assert len({newsgroups.SUB_OF[group] for group in groups}) == 8


def test_documents_are_read_by_part_and_group_in_order(tmp_path, contents):
    more = {
        "README": b"no document",
        "20news-bydate-train/other.group/1": b"x",
        "20news-bydate-train/note": b"x",
    }
    pack(tmp_path / "a.tar.xz", dict(reversed((contents | more).items())))
    found = newsgroups.read_newsgroups(tmp_path / "a.tar.xz")
    assert set(found) == {(part, group) for part in ("train", "test") for group in newsgroups.TOP_OF}
    expected = [contents[f"20news-bydate-test/sci.med/{n}"].decode("latin-1") for n in range(6)]
    assert found["test", "sci.med"] == expected
    assert "caf\xe9" in expected[0]


def test_an_archive_that_is_broken_is_refused(tmp_path, contents):
    path = tmp_path / "a.tar.xz"
    pack(path, contents)
    whole = path.read_bytes()
    for broken in (b"", b"no archive", whole[: len(whole) // 2], lzma.compress(b"no tar" * 1000)):
        path.write_bytes(broken)
        assert refused(path) == "D728"
    inner = lzma.decompress(whole)
    path.write_bytes(lzma.compress(inner[: 512 + 40]))
    assert refused(path) == "D728"
    assert refused(tmp_path / "none.tar.xz") == "D728"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_only_plain_files_are_read(tmp_path, contents, kind):
    member = tarfile.TarInfo("20news-bydate-train/sci.med/999")
    member.type, member.linkname = kind, "/etc/hosts"
    pack(tmp_path / "a.tar.xz", contents, [member])
    assert refused(tmp_path / "a.tar.xz") == "D729"


@pytest.mark.parametrize(("bound", "value"), [("LARGEST", 20), ("TOTAL", 1000), ("MEMBERS", 50)])
def test_sizes_are_bounded(tmp_path, contents, monkeypatch, bound, value):
    pack(tmp_path / "a.tar.xz", contents)
    monkeypatch.setattr(newsgroups, bound, value)
    assert refused(tmp_path / "a.tar.xz") == "D730"


def test_a_group_without_documents_is_named(tmp_path, contents):
    pack(
        tmp_path / "a.tar.xz", {name: each for name, each in contents.items() if "test/rec.autos" not in name}
    )
    assert refused(tmp_path / "a.tar.xz") == "D731"


def test_documents_without_words_are_refused(tmp_path, contents):
    for empty in ("sci.med", ""):
        blank = {name: b"! ?" if empty in name else each for name, each in contents.items()}
        pack(tmp_path / newsgroups.ARCHIVE, blank)
        with pytest.raises(UserError) as caught:
            read_corpus(tmp_path)
        assert caught.value.code == "D725"


def test_instances_are_counted_as_said():
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


def test_samples_come_from_the_seed():
    first = sample_instances(SHIFTED, 20, (1, 2))
    assert first == sample_instances(SHIFTED, 20, (1, 2)) == sorted(set(first))
    assert len(first) == 20
    assert first != sample_instances(SHIFTED, 20, (1, 3))
    assert sample_instances(SHIFTED[:7], 20, (1,)) == list(range(7))
    some = pair_instances(SHIFTED, 10)
    assert len({instance.train for instance in some}) == 14
    assert {each for each in SHIFTED if each.train in {some[0].train}} <= set(some)


def test_rows_are_what_scikit_learn_makes_of_the_training_documents(contents):
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = {
        (part, group): [contents[f"{folder}/{group}/{n}"].decode("latin-1") for n in range(6)]
        for folder, part in newsgroups.PARTS.items()
        for group in newsgroups.TOP_OF
    }
    pair, tested = ("sci.med", "talk.politics.guns"), ["sci.space", "talk.religion.misc"]
    lesson = count_words(documents).lesson(pair)
    train, test = lesson.batch("train", pair), lesson.batch("test", tested)
    alone = TfidfVectorizer()
    expected = alone.fit_transform([text for group in pair for text in documents["train", group]])
    assert np.allclose(train.rows.toarray(), expected.toarray())
    expected = alone.transform([text for group in tested for text in documents["test", group]])
    assert np.allclose(test.rows.toarray(), expected.toarray())
    assert test.costs.tolist() == [[0, 1]] * 6 + [[1, 0]] * 6
    assert len(test.columns) == 2 * test.rows.shape[1]


def test_the_share_of_removed_words():
    documents = {
        ("train", "sci.med"): ["aa bb"],
        ("train", "rec.autos"): ["cc dd"],
        ("test", "sci.space"): ["bb ee"],
    }
    counted = count_words(documents)
    lesson = counted.lesson(("rec.autos", "sci.med"))
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
