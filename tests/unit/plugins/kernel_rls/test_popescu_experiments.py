"""The experiments on a small synthetic lexical sample and corpus: tables, curves, genres."""

from __future__ import annotations

import io
import json
import re
import tarfile
from dataclasses import replace
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from commands import here
from disambig_kernel_rls.experiments import (
    AS_MANY,
    KINDS,
    MFS,
    OTHER,
    SAME,
    FeatureCache,
    WordOccurrence,
    curves,
    decide_senses,
    genre_folds,
    genres,
    leave_one_out,
    locate_occurrences,
    most_frequent,
    possible_senses,
    sense_costs,
    senses_by_frequency,
    senseval,
    systems,
    tables,
)

from disambig.errors import UserError
from disambig.experiments import as_json, from_json, result_lines
from disambig.files import pack
from disambig.text import SpacyTokens

SENSES = {
    "bank.n": {
        "bank%1": ("money", "loan", "interest", "branch", "credit"),
        "bank%2": ("river", "mud", "boat", "fish", "reed"),
    },
    "play.v": {
        "play%1": ("piano", "violin", "tune", "concert", "band"),
        "play%2": ("goal", "team", "match", "league", "ball"),
    },
    "cool.a": {
        "cool%1": ("shade", "water", "wind", "autumn", "cellar"),
        "cool%2": ("jacket", "song", "movie", "party", "haircut"),
    },
}
FILLERS = ("the old man", "a young woman", "my neighbour", "that clerk", "one visitor")


def make_sentence(rng, word, cues, head="{}"):
    """Return a sentence in which a word stands among cues of its sense."""
    first, second, third = (str(rng.choice(cues)) for _ in range(3))
    who = str(rng.choice(FILLERS))
    name = head.format(word.partition(".")[0])
    return f"Here {who} spoke of the {first} . Then the {second} {name} {third} was there & so on ."


def make_instances(part, n, *, words=SENSES, rare=True):
    """Return (word, id, senses, context) of each instance; the second sense is the rarer one."""
    rng = np.random.default_rng(len(part))
    result = []
    for word in words:
        (one, two), name = words[word].items(), word.partition(".")[0]
        for k in range(n):
            sense, cues = two if k % 3 == 2 else one
            senses = (sense, "U") if rare and k == 0 else (sense,)
            context = make_sentence(rng, word, cues, "<head>{}</head>")
            result.append((word, f"{name}.{part}{k}", senses, context))
    return result


def write_senseval(home, edition, *, n_train=12, n_test=6, words=SENSES, sensemap=True):
    """Write an edition's files below `home`."""
    folder = home / edition.folder
    folder.mkdir(parents=True, exist_ok=True)
    parts = {edition.train: make_instances("train", n_train, words=words)}
    parts[edition.test] = make_instances("test", n_test, words=words)
    for name, result in parts.items():
        lines = ['<?xml version="1.0" encoding="iso-8859-1" ?>', "<corpus lang='english'>"]
        for word in words:
            lines.append(f'<lexelt item="{word}">')
            for of, number, senses, context in result:
                if of == word:
                    lines.append(f'<instance id="{number}" docsrc="made">')
                    if name == edition.train:
                        lines += [f'<answer instance="{number}" senseid="{item}"/>' for item in senses]
                    lines += ["<context>", context, "</context>", "</instance>"]
            lines.append("</lexelt>")
        (folder / name).write_text("\n".join([*lines, "</corpus>"]), encoding="iso-8859-1")
    key = [f"{word.partition('.')[0]} {n} {' '.join(s)}" for word, n, s, _ in parts[edition.test]]
    (folder / edition.key).write_text("\n".join(key) + "\n", encoding="iso-8859-1")
    if sensemap:
        groups = "".join(f"{one} {two}\n" for one, two in (tuple(item) for item in words.values()))
        (folder / edition.sensemap).write_text(groups, encoding="iso-8859-1")
    return folder


def write_noad(path, *, documents=4, n_per_sense=12):
    """Write a small NOAD-MASC: each kind's first two genres, with words in two senses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    with tarfile.open(path, "w:xz") as archive:
        for genres in KINDS.values():
            for genre in genres[:2]:
                for number in range(documents):
                    name = f"written/{genre}/made{number}"
                    data = make_document(rng, name, n_per_sense).encode()
                    member = tarfile.TarInfo(f"masc/{name}.xml")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))


def make_document(rng, name, n_per_sense):
    words = []
    for word, senses in SENSES.items():
        for k in range(n_per_sense):
            sense, cues = list(senses.items())[int(k % 3 == 2)]
            lemma, pos = word.partition(".")[0], {"n": "NOUN", "v": "VERB", "a": "ADJ"}[word[-1]]
            for token in make_sentence(rng, word, cues).split():
                output = f' lemma="{lemma}" pos="{pos}" sense="/d/{sense}"' if token == lemma else ""
                words.append(f'<word text={quoteattr(token)}{output} break_level="SPACE_BREAK"/>')
    return f'<SimpleWsdDoc name="/{escape(name)}.txt">\n' + "\n".join(words) + "\n</SimpleWsdDoc>\n"


SECOND, THIRD = senseval.SENSEVAL_2, senseval.SENSEVAL_3


def ignore_progress(*_):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_senseval(home, SECOND)
    return home


@pytest.fixture(scope="module")
def sample(data):
    return senseval.read_edition(SECOND, data, quick=False)


def make_results(right, chosen=()):
    return senseval.SystemResults(tuple(chosen), np.array(right, bool), {"learning": 1.0})


def test_a_sample_is_read_with_its_key(sample):
    assert sample.occurrences.words == tuple(sorted(SENSES))
    assert (sample.n_train, len(sample.occurrences)) == (36, 54)
    assert sample.occurrences.senses[0] == ("bank%1", "U")
    assert sample.occurrences.senses[36 + 2] == ("bank%2",)
    assert sample.ids[2] == "bank.test2" and sample.key["bank.test2"] == ("bank%2",)
    assert sample.most_frequent == {"bank.n": "bank%1", "play.v": "play%1", "cool.a": "cool%1"}
    view, at = sample.occurrences.view, sample.occurrences.instances.positions
    document = view.document_indices(at)
    heads = {view.texts[d][view.starts[p] : view.ends[p]] for d, p in zip(document, at, strict=True)}
    assert heads == {"bank", "play", "cool"} and document.tolist() == list(range(54))
    rows = np.arange(12)
    senses = senses_by_frequency(sample.occurrences, rows)
    assert senses == {"bank%1": 8, "bank%2": 4, "U": 1}
    result = sense_costs(sample.occurrences, rows[:3], ["bank%2", "bank%1", "U"])
    assert result.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("ending", senseval.ENDINGS[1:])
def test_files_may_be_packed(data, tmp_path, sample, ending):
    folder = tmp_path / SECOND.folder
    folder.mkdir(parents=True)
    for path in (data / SECOND.folder).iterdir():
        with open(folder / f"{path.name}{ending}", "wb") as file, pack(file, str(file.name)) as packing:
            packing.write(path.read_bytes())
    assert SECOND.is_there(tmp_path) and not THIRD.is_there(tmp_path)
    packed = senseval.read_edition(SECOND, tmp_path, quick=False)
    assert packed.ids == sample.ids and list(packed.occurrences.senses) == list(sample.occurrences.senses)


def test_editions_and_the_words_of_a_quick_run(tmp_path):
    words = [f"w{n:02}.{part}" for part in "anv" for n in range(7)]
    assert senseval.sample_words(words) == [f"w{n:02}.{part}" for part in "anv" for n in (0, 5)]
    (note,) = senseval.missing_files(tmp_path)
    assert "Senseval-1 and Senseval-3" in note and "senseval.org" in note and "EnglishLS.train" in note
    for edition in senseval.OTHERS:
        write_senseval(tmp_path, edition)
    assert senseval.missing_files(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (SECOND.train, 'item="play.v"', 'item="pray.v"', "no training example of play.v"),
        (SECOND.key, "cool.test3", "cool.test33", "cool.test3 is not in the key"),
    ],
    ids=["no training example", "not in the key"],
)
def test_incomplete_samples(tmp_path, name, old, new, problem):
    path = write_senseval(tmp_path, SECOND) / name
    path.write_text(path.read_text("latin-1").replace(old, new), "latin-1")
    with pytest.raises(UserError, match=rf"\[D737\].*{problem}"):
        senseval.read_edition(SECOND, tmp_path, quick=False)


def change_instances(path, old, new, *ids):
    """Replace a tag in some instances of a file."""
    for item in ids:
        before, at, after = path.read_text("latin-1").partition(f'<instance id="{item}"')
        path.write_text(before + at + after.replace(old, new, 1), "latin-1")


def remove_heads(path, *ids):
    for tag in ("<head>", "</head>"):
        change_instances(path, tag, "", *ids)


def test_broken_instances(tmp_path, sample):
    folder = write_senseval(tmp_path, SECOND)
    remove_heads(folder / SECOND.train, "bank.train3", "cool.train5")
    remove_heads(folder / SECOND.test, "play.test1")
    result = senseval.read_edition(SECOND, tmp_path, quick=False)
    assert (result.n_train, len(result.ids), len(result.key)) == (34, 17, 17) and not sample.notes
    assert result.notes == (
        "Senseval-2: broken instances, neither learned from nor scored: "
        "2 in eng-lex-sample.training.xml, 1 in eng-lex-sample.evaluation.xml",
    )


@pytest.mark.parametrize(
    "table", [tables.Popescu2004Table1, tables.Popescu2004Table2, curves.Popescu2004Curves]
)
def test_notes_on_broken_instances(tmp_path, table):
    remove_heads(write_senseval(tmp_path, SECOND) / SECOND.test, "play.test1")
    remove_heads(write_senseval(tmp_path, THIRD) / THIRD.train, "bank.train3")
    notes = table().run(data=tmp_path, quick=True, progress=ignore_progress).notes
    expected = {"Senseval-2": "1 in eng-lex-sample.evaluation.xml", "Senseval-3": "1 in EnglishLS.train"}
    if table is curves.Popescu2004Curves:
        del expected["Senseval-3"]
    between = ": broken instances, neither learned from nor scored: "
    assert dict(note.split(between) for note in notes if "broken" in note) == expected


def test_places_between_tokens_are_taken_at_a_token():
    view = SpacyTokens()(["One two. Three four", "", "five"])
    result = [
        WordOccurrence(0, 4, 7, "two.n", ("a",)),
        WordOccurrence(0, 9, 19, "three.n"),
        WordOccurrence(0, 19, 19, "end.n"),
        WordOccurrence(2, 1, 2, "five.n"),
    ]
    at = locate_occurrences(view, result)
    first, last = at.instances.positions, at.instances.positions + at.instances.lengths - 1
    places = zip(view.document_indices(first), view.starts[first], view.ends[last], strict=True)
    assert [view.texts[d][start:end] for d, start, end in places] == ["two", "Three four", "four", "five"]
    assert [at.words[g] for g in at.instances.groups] == [item.word for item in result]


def test_features_are_computed_once_for_all_systems(sample):
    cache = FeatureCache(sample.occurrences, sample.train)
    lin, _ = cache.features(systems.RLSC_LIN)
    assert len(cache.computed) == 2
    comb, _ = cache.features(systems.RLSC_COMB)
    assert len(cache.computed) == 3
    assert (lin.rows.indices == comb.rows.indices).all() and comb.rows.data.max() > lin.rows.data.max() == 1
    assert set(lin.columns.group_names) == {"local", "broad"}


def test_a_word_of_one_sense_in_training(sample):
    cache = FeatureCache(sample.occurrences, sample.train)
    features, _ = cache.features(systems.RLSC_COMB)
    train, test = np.array([1, 3]), np.array([40, 41])
    reports: list = []
    chosen = decide_senses(systems.RLSC_COMB, features, sample.occurrences, train, test, reports=reports)
    assert chosen == ["bank%1", "bank%1"] and not reports
    assert leave_one_out(systems.RLSC_COMB, features, sample.occurrences, train) == 1.0
    assert most_frequent(sample.occurrences, np.array([2, 5, 1]), test) == ["bank%2"] * 2
    learner = {"@disambig_learners": "random_subspace.SGD.v1"}
    system = systems.SystemConfig(systems.RLSC_COMB.extractors, learner, scaled=True)
    assert len(decide_senses(system, features, sample.occurrences, np.arange(12), test)) == 2


def test_marks_of_multiwords_are_read(tmp_path):
    folder = write_senseval(tmp_path, SECOND)
    for name, item in ((SECOND.train, "play.train3"), (SECOND.test, "play.test1")):
        change_instances(folder / name, "<head>", '<head sats="play_along.003:0">', item)
    multiwords = senseval.read_edition(SECOND, tmp_path, quick=False).occurrences.multiwords
    assert [n for n, item in enumerate(multiwords) if item] == [12 + 3, 36 + 6 + 1]
    assert multiwords[12 + 3] == "play_along"


@pytest.fixture
def occurrences(sample):
    """Occurrences of one word: twenty to learn from, of "call_up%1" all but one marked, and three to test."""
    senses = [("call%1",)] * 9 + [("call_up%1", "U")] + [("call_up%1",)] * 10 + [("call%1",)] * 3
    multiwords = [""] * 10 + ["call_up"] * 10 + ["call_up", "", "call_in"]
    few = sample.occurrences.instances.take(np.arange(23))
    same = {"instances": replace(few, groups=np.zeros(23, np.int32)), "words": ("call.v",)}
    return replace(sample.occurrences, senses=senses, multiwords=multiwords, **same)


def test_possible_senses(occurrences):
    train, test = np.arange(20), np.arange(20, 23)
    names = ["call_up%1", "call%1", "U"]
    assert possible_senses(occurrences, train, test, names).tolist() == [
        [True, False, False],
        [False, True, True],
        [True, True, True],  # no sense of that multiword is known
    ]
    seldom = replace(occurrences, multiwords=[""] * 12 + occurrences.multiwords[12:])
    assert possible_senses(seldom, train, test, names)[1].all()
    assert possible_senses(occurrences, train, test[:0], names).shape == (0, 3)
    only = np.arange(10, 20)
    assert possible_senses(occurrences, only, test, ["call_up%1"]).tolist() == [[True]] * 3
    other = replace(occurrences, senses=[*occurrences.senses[:20], ("x%1",), ("call_up%1",), ()])
    of_both = (possible_senses(item, train, test, names).tolist() for item in (occurrences, other))
    assert next(of_both) == next(of_both)


def test_decisions_are_possible_senses(occurrences):
    train, test = np.arange(20), np.arange(20, 23)
    assert most_frequent(occurrences, train, test) == ["call_up%1"] * 3
    expected = ["call_up%1", "call%1", "call_up%1"]
    assert most_frequent(occurrences, train, test, multiwords=True) == expected
    features, _ = FeatureCache(occurrences, train).features(systems.RLSC_COMB)
    both = systems.RLSC_COMB, systems.MARKED["COMB, marked phrasal verbs"]
    alone, kept = (decide_senses(item, features, occurrences, train, test) for item in both)
    assert kept[0] == "call_up%1" and kept[1] != "call_up%1" and kept[2] == alone[2]


def test_scores_by_reading_and_part_of_speech(sample):
    chosen = [sample.key[item][-1] for item in sample.ids]  # "U" of the first, else what is right
    chosen[3], chosen[7] = "bank%2", "no sense"
    right = [sense in sample.key[item] for sense, item in zip(chosen, sample.ids, strict=True)]
    results = make_results(right, chosen)
    figures = senseval.system_figures(sample, results)
    by_word = senseval.system_details(sample, {"x": results})["x"]["words"]
    assert by_word == {"bank.n": 83.3, "play.v": 83.3, "cool.a": 100.0}
    assert figures["fine"] == (pytest.approx(100 * 16 / 18), 18)
    assert figures["coarse"][0] == pytest.approx(100 * 17 / 18)  # both senses of a word are one group
    assert figures["nouns"] == (pytest.approx(100 * 5 / 6), 6)
    assert figures["verbs"] == (pytest.approx(100 * 5 / 6), 6)
    assert figures["adjectives"] == (100.0, 6)


def test_leave_one_out_accuracies(sample):
    words = {"bank.n": range(12), "play.v": range(12, 24), "cool.a": range(24, 36)}
    chosen = {
        "lin": tables.TABLE1_SYSTEMS[tables.LIN],
        "improved, plain": tables.REJECTED["COMB, improved, no boundary words"],
    }
    result = senseval.leave_one_out_accuracies(sample, chosen, progress=ignore_progress)
    for name, system in chosen.items():
        features, _ = FeatureCache(sample.occurrences, sample.train).features(system)
        hits = 0
        for word in words.values():
            for out in word:
                rest, test = np.array([item for item in word if item != out]), np.array([out])
                (answer,) = decide_senses(system, features, sample.occurrences, rest, test)
                hits += answer in sample.occurrences.senses[out]
        assert result[name] == pytest.approx(100 * hits / 36) and hits > 24


def test_rows_with_figures_of_the_paper():
    scores = {"fine": (70.0, 9), "nouns": (60.0, 4)}
    rows = senseval.table_rows({"Senseval-2": {"RLSC-COMB": scores, "COMB, x": scores}})
    by_name = {(row.system, row.setting): (row.paper, row.ours) for row in rows}
    assert by_name["RLSC-COMB", "fine"] == (65.6, 70.0)
    assert by_name["RLSC-COMB", "Senseval-3"] == (72.2, None)
    assert ("COMB, x", "Senseval-3") not in by_name and ("RLSC-COMB", "coarse") not in by_name
    third = {"Senseval-3": {"RLSC-COMB": {"fine": (71.0, 5)}}}
    rows = senseval.table_rows({"Senseval-2": {"RLSC-COMB": scores}, **third})
    assert [row.ours for row in rows if row.setting == "Senseval-3"] == [71.0]


def test_claims_of_the_tables():
    names = list(tables.TABLE1_SYSTEMS)
    right = {name: np.arange(100) < 60 + 3 * n for n, name in enumerate(names)}
    result = {name: make_results(item) for name, item in right.items()}
    fine = {name: 100 * float(item.mean()) for name, item in right.items()}
    claims = {claim.claim: claim.holds for claim in tables.table1_claims(result, fine)}
    assert claims["RLSC-COMB is above RLSC-LIN"] and len(claims) == len(names) + 3
    assert not claims["RLSC-COMB reaches 65.6 (Senseval-2, fine-grained)"]
    assert claims["COMB, improved reaches 67.0 (Senseval-2, fine-grained)"]
    assert not claims["COMB, weights by alignment is above RLSC-COMB (p < 0.05)"]  # three instances
    assert claims["COMB, improved is above RLSC-COMB (p < 0.05)"]
    assert claims["COMB, improved, marked phrasal verbs is above COMB, improved (p < 0.05)"]
    names = list(tables.TABLE2_SYSTEMS)
    result = {name: make_results(np.arange(100) < 60) for name in names}
    fine = dict.fromkeys(names, 60.0)
    assert [claim.holds for claim in tables.table2_claims(result, fine)] == [True] * 4 + [False]
    fine["SVM-LIN"] = 60.1
    assert [claim.holds for claim in tables.table2_claims(result, fine)] == [False, True, True, True, False]
    fine["RLSC-COMB"], result["RLSC-COMB"] = 70.0, make_results(np.arange(100) < 70)
    assert tables.table2_claims(result, fine)[-1].holds


def test_claims_of_a_quick_run(tmp_path):
    write_senseval(tmp_path, SECOND)
    claims, notes = {}, {}
    for quick in (True, False):
        result = tables.Popescu2004Table1().run(data=tmp_path, quick=quick, progress=ignore_progress)
        claims[quick] = {claim.claim for claim in result.claims}
        notes[quick] = [note for note in result.notes if "are left out: a fifth were tried" in note]
    left_out = claims[False] - claims[True]
    assert len(left_out) == 5 and all("reaches" in claim for claim in left_out)
    assert claims[True] < claims[False] and len(claims[True]) == len(tables.TABLE1_SYSTEMS) - 2
    assert len(notes[True]) == 1 and not notes[False]


def check_result(result, title):
    """Check that a result can be shown and restored from JSON."""
    assert result_lines(title, result) and result.claims and result.notes
    saved = json.loads(json.dumps(as_json("name", result)))
    assert as_json("name", from_json(saved)) == saved
    return {(row.system, row.setting): row for row in result.rows}


@pytest.mark.parametrize("table", [tables.Popescu2004Table1, tables.Popescu2004Table2])
def test_tables(tmp_path, table):
    write_senseval(tmp_path, SECOND)
    write_senseval(tmp_path, THIRD, sensemap=False)
    stages = []
    result = table().run(data=tmp_path, quick=True, progress=lambda *args: stages.append(args))
    assert stages[0][0] == "reading Senseval-2" and any("Senseval-3: " in stage for stage, *_ in stages)
    rows = check_result(result, table().title)
    assert rows["RLSC-COMB", "fine"].ours > 90 and rows["RLSC-COMB", "Senseval-3"].ours > 90
    assert rows["RLSC-COMB", "Senseval-1"].ours is None
    by_leave_one_out = {system: row for (system, setting), row in rows.items() if setting == "leave-one-out"}
    if table is tables.Popescu2004Table1:
        assert by_leave_one_out["RLSC-COMB"].ours > 80 and by_leave_one_out["RLSC-COMB"].n == 36
        assert ("RLSC-LIN, boundary words", "fine") not in rows
    expected = set(tables.BY_LEAVE_ONE_OUT) if table is tables.Popescu2004Table1 else set()
    assert set(by_leave_one_out) == expected
    assert any("Senseval-1: not in the data" in note for note in result.notes)
    assert not any("broken" in note for note in result.notes)
    assert any("learning" in note and "features" in note for note in result.notes)


@pytest.fixture(scope="module")
def data_of_curves(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_senseval(home, senseval.SENSEVAL_2, n_train=14)
    write_noad(home / genres.ARCHIVE)
    return home


def test_curves(data_of_curves):
    stages = []
    run, progress = curves.Popescu2004Curves().run, lambda *args: stages.append(args)
    result = run(data=data_of_curves, quick=False, progress=progress)
    rows = check_result(result, "curves")
    assert stages[0][0] == "reading Senseval-2" and stages[-1][0] == "learning"
    assert {setting for _, setting in rows} == {"5", "10", "all"}  # no word has more than 14
    comb = [rows["RLSC-COMB", setting].ours for setting in ("5", "10", "all")]
    assert comb[2] > 90 and comb[0] < comb[2]
    assert rows["RLSC-COMB", "all"].ours == rows["RLSC-COMB, words of fewer than 100", "all"].ours
    assert rows["RLSC-COMB", "5"].spread > 0 and rows["RLSC-COMB", "all"].spread is None
    assert [place[0] for place in result.panels[0].lines["SVM-COMB"]] == [5, 10, 14]
    assert all(panel.logarithmic for panel in result.panels)
    assert len(result.details["RLSC-COMB"]["all"]) == 3


def test_rows_and_claims_of_the_curves():
    item = np.zeros((2, len(curves.SIZES) + 1, 2))
    item[0], item[1, :, 1] = 1.0, 0.5
    has, tests = np.array([30, 120]), np.array([10, 30])
    rows = curves.curve_rows("", {"x": item}, np.ones(2, bool), has, tests)
    first = rows[0]
    assert (first.setting, first.ours, first.n) == ("5", pytest.approx((25 + 62.5) / 2), 40)
    assert first.spread == pytest.approx((62.5 - 25) / 2)
    assert [row.setting for row in rows] == ["5", "10", "25", "50", "100", "all"]
    assert list(curves.word_classes(has)) == ["", "words of fewer than 100", "words of 100 to 149"]
    has, tests = np.full(40, 160), np.full(40, 5)
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.3, (40, len(curves.SIZES) + 1, 2))
    rise = np.linspace(0, 0.3, len(curves.SIZES) + 1)[None, :, None]
    leads = zip((MFS, *curves.SYSTEMS), (0, 0.1, 0.2, 0.15, 0.3), strict=True)
    result = {name: base + rise + up for name, up in leads}
    assert [claim.holds for claim in curves.curve_claims(result, has, tests)] == [True] * 5
    result["RLSC-COMB"] = base - 0.1
    holds = [claim.holds for claim in curves.curve_claims(result, has, tests)]
    assert holds == [False, False, False, True, False]


def test_genre_folds():
    rng = np.random.default_rng(1)
    kinds = rng.choice(list(KINDS), 600).tolist()
    documents = [f"{kind}{rng.integers(0, 12)}" for kind in kinds]
    words = rng.integers(0, 3, 600)
    result = genre_folds(words, kinds, documents, minimum=10)
    assert {(fold.word, fold.kind) for fold in result} == {(w, k) for w in range(3) for k in KINDS}
    for fold in result:
        of = {name: {documents[row] for row in rows} for name, rows in fold.train.items()}
        tested = {documents[row] for row in fold.test}
        assert not tested & of[SAME] and not tested & of[OTHER]
        assert {kinds[row] for row in (*fold.test, *fold.train[SAME])} == {fold.kind}
        assert fold.kind not in {kinds[row] for row in fold.train[OTHER]}
        assert len(fold.train[AS_MANY]) == len(fold.train[SAME]) == len(set(fold.train[AS_MANY]))
        assert set(fold.train[AS_MANY]) <= set(fold.train[OTHER])
        assert {int(words[row]) for row in (*fold.test, *fold.train[OTHER])} == {fold.word}
    assert genre_folds(words, kinds, documents, minimum=100) == []


def test_genres(data_of_curves):
    stages = []
    run, progress = genres.Popescu2004Genres().run, lambda *args: stages.append(args)
    result = run(data=data_of_curves, quick=False, progress=progress)
    rows = check_result(result, "genres")
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
        item = {(row.system, row.setting): row.ours for row in result.rows}
        ((_, other),) = panel.points["RLSC-COMB"]
        assert other == round(item["RLSC-COMB", f"tested: {kind}"], 2)
        assert panel.title.endswith(f", {item['most frequent sense', f'tested: {kind}']:.1f})")
    assert "of 1 words" in run(data=data_of_curves, quick=True, progress=ignore_progress).notes[0]


def test_claims_of_genres():
    words = np.repeat(np.arange(20), 50)
    rivals = {"SGD": ["SGD-RLRS"]}

    def hits(share):
        return np.tile(np.arange(50) < 50 * share, 20)

    other = {MFS: 0.5, "RLSC-COMB": 0.9, "SVM-COMB": 0.7, "SGD": 0.6, "SGD-RLRS": 0.8}
    result, turned = {}, {}
    for name, share in other.items():
        same = share if name == "SGD-RLRS" else share + 0.06
        result[name] = {SAME: hits(same), AS_MANY: hits(share), OTHER: hits(share + 0.04)}
        turned[name] = dict.fromkeys((SAME, AS_MANY, OTHER), hits(0.4 if name == "RLSC-COMB" else share))
    assert [claim.holds for claim in genres.genre_claims(result, words, rivals)] == [True] * 9
    holds = [claim.holds for claim in genres.genre_claims(turned, words, rivals)]
    assert holds == [False, True, True, False, False, False, True, False, False]
    by_word = genres.mean_by_word(np.array([True, False, True]), np.array([4, 4, 9]))
    assert by_word == pytest.approx([0.5, 1.0])


def break_senseval(home):
    (write_senseval(home, SECOND) / SECOND.train).write_text("no instance", "latin-1")


def break_noad(home):
    (home / genres.ARCHIVE).parent.mkdir(parents=True)
    with tarfile.open(home / genres.ARCHIVE, "w:xz"):
        pass


@pytest.mark.parametrize(
    ("name", "prepare", "problem"),
    [
        ("table1", lambda home: None, r"\[D721.*senseval2"),
        ("table1", break_senseval, r"\[D490\]"),
        ("table2", break_senseval, r"\[D490\]"),
        ("curves", break_senseval, r"\[D490\]"),
        ("genres", break_noad, r"\[D490\]"),
        ("genres", lambda home: write_noad(home / genres.ARCHIVE, documents=1, n_per_sense=3), r"\[D738\]"),
    ],
    ids=["no files", "table1", "table2", "curves", "genres", "small corpus"],
)
def test_errors_of_the_command(tmp_path, name, prepare, problem):
    prepare(tmp_path)
    status, out, err = here("reproduce", f"popescu2004.{name}", "--data", tmp_path)
    assert (status, out) == (2, "") and re.search(problem, err)
    assert err.count("\n") == 1 or "D721" in err
