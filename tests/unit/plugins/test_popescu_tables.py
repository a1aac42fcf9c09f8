"""The tables on a made lexical sample, and what they compute by themselves."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from disambig_kernel_rls.experiments import (
    Bench,
    WordOccurrence,
    curves,
    decide_senses,
    leave_one_out,
    locate_occurrences,
    most_frequent,
    possible_senses,
    sense_costs,
    senses_by_frequency,
    systems,
)
from disambig_kernel_rls.experiments import senseval as editions
from disambig_kernel_rls.experiments import senseval as scored
from disambig_kernel_rls.experiments import senseval as tables
from disambig_kernel_rls.experiments import tables as table1
from disambig_kernel_rls.experiments import tables as table2
from made_senses import SENSES, write_senseval

from disambig.cli import main
from disambig.config import resolve
from disambig.errors import UserError
from disambig.experiments import as_json, from_json, result_lines
from disambig.files import pack
from disambig.text import SpacyTokens

SECOND, THIRD = editions.SENSEVAL_2, editions.SENSEVAL_3


def silent(*said):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_senseval(home, SECOND)
    return home


@pytest.fixture(scope="module")
def sample(data):
    return editions.read_edition(SECOND, data, quick=False)


def tried_of(right, chosen=()):
    return scored.SystemResults(tuple(chosen), np.array(right, bool), {"learning": 1.0})


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


@pytest.mark.parametrize("ending", editions.ENDINGS[1:])
def test_files_may_be_packed(data, tmp_path, sample, ending):
    folder = tmp_path / SECOND.folder
    folder.mkdir(parents=True)
    for path in (data / SECOND.folder).iterdir():
        with open(folder / f"{path.name}{ending}", "wb") as file, pack(file, str(file.name)) as packing:
            packing.write(path.read_bytes())
    assert SECOND.is_there(tmp_path) and not THIRD.is_there(tmp_path)
    packed = editions.read_edition(SECOND, tmp_path, quick=False)
    assert packed.ids == sample.ids and list(packed.occurrences.senses) == list(sample.occurrences.senses)


def test_the_quick_form_takes_words_of_each_part_of_speech():
    words = [f"w{n:02}.{part}" for part in "anv" for n in range(7)]
    assert editions.sample_words(words) == [f"w{n:02}.{part}" for part in "anv" for n in (0, 5)]


def test_a_word_without_training_examples_is_said(tmp_path):
    folder = write_senseval(tmp_path, SECOND)
    path = folder / SECOND.train
    path.write_text(path.read_text("latin-1").replace('item="play.v"', 'item="pray.v"'), "latin-1")
    with pytest.raises(UserError, match=r"\[D737\].*no training example of play.v"):
        editions.read_edition(SECOND, tmp_path, quick=False)


def test_an_instance_without_a_key_is_said(tmp_path):
    path = write_senseval(tmp_path, SECOND) / SECOND.key
    path.write_text(path.read_text("latin-1").replace("cool.test3", "cool.test33"), "latin-1")
    with pytest.raises(UserError, match=r"\[D737\].*cool.test3 is not in the key"):
        editions.read_edition(SECOND, tmp_path, quick=False)


def broken(folder, name, *ids):
    """Take the head out of some instances of a file."""
    for each in ids:
        before, at, after = (folder / name).read_text("latin-1").partition(f'<instance id="{each}"')
        after = after.replace("<head>", "", 1).replace("</head>", "", 1)
        (folder / name).write_text(before + at + after, "latin-1")


def test_broken_instances_are_said(tmp_path, sample):
    folder = write_senseval(tmp_path, SECOND)
    broken(folder, SECOND.train, "bank.train3", "cool.train5")
    broken(folder, SECOND.test, "play.test1")
    found = editions.read_edition(SECOND, tmp_path, quick=False)
    assert (found.n_train, len(found.ids), len(found.key)) == (34, 17, 17) and not sample.notes
    assert found.notes == (
        "Senseval-2: broken instances, neither learned from nor scored: "
        "2 in eng-lex-sample.training.xml, 1 in eng-lex-sample.evaluation.xml",
    )


@pytest.mark.parametrize(
    "table", [table1.Popescu2004Table1, table2.Popescu2004Table2, curves.Popescu2004Curves]
)
def test_results_say_what_was_broken(tmp_path, table):
    broken(write_senseval(tmp_path, SECOND), SECOND.test, "play.test1")
    broken(write_senseval(tmp_path, THIRD), THIRD.train, "bank.train3")
    notes = table().run(data=tmp_path, quick=True, progress=silent).notes
    expected = {"Senseval-2": "1 in eng-lex-sample.evaluation.xml", "Senseval-3": "1 in EnglishLS.train"}
    said = dict(
        note.split(": broken instances, neither learned from nor scored: ")
        for note in notes
        if "broken" in note
    )
    assert said == (
        expected if table is not curves.Popescu2004Curves else {"Senseval-2": expected["Senseval-2"]}
    )


def test_places_between_tokens_are_taken_at_a_token():
    view = SpacyTokens()(["One two. Three four", "", "five"])
    found = [
        WordOccurrence(0, 4, 7, "two.n", ("a",)),
        WordOccurrence(0, 9, 19, "three.n"),
        WordOccurrence(0, 19, 19, "end.n"),
        WordOccurrence(2, 1, 2, "five.n"),
    ]
    at = locate_occurrences(view, found)
    shown = [
        view.texts[d][view.starts[p] : view.ends[p + n - 1]]
        for p, n, d in zip(
            at.instances.positions,
            at.instances.lengths,
            view.document_indices(at.instances.positions),
            strict=True,
        )
    ]
    assert shown == ["two", "Three four", "four", "five"]
    assert [at.words[g] for g in at.instances.groups] == [each.word for each in found]


def test_senses_are_counted_and_their_costs_are_zero(sample):
    rows = np.arange(12)
    senses = senses_by_frequency(sample.occurrences, rows)
    assert senses == {"bank%1": 8, "bank%2": 4, "U": 1}
    found = sense_costs(sample.occurrences, rows[:3], ["bank%2", "bank%1", "U"])
    assert found.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize(
    "system",
    [systems.RLSC_COMB, table2.TABLE2_SYSTEMS["SVM-LIN, C = 100"], systems.IMPROVED, systems.ALL],
)
def test_systems_learn_what_the_most_frequent_sense_cannot(sample, system):
    found = scored.evaluate_systems(sample, {"system": system}, progress=silent)
    assert scored.system_figures(sample, found[scored.MFS])["fine"][0] == pytest.approx(100 * 2 / 3)
    assert scored.system_figures(sample, found["system"])["fine"][0] > 90
    assert set(found["system"].seconds) == set(scored.STAGES)


def test_features_are_made_once_for_all_systems(sample):
    bench = Bench(sample.occurrences, sample.train)
    lin, _ = bench.features(systems.RLSC_LIN)
    assert len(bench.made) == 2
    comb, _ = bench.features(systems.RLSC_COMB)
    assert len(bench.made) == 3
    assert (lin.rows.indices == comb.rows.indices).all() and comb.rows.data.max() > lin.rows.data.max() == 1
    assert set(lin.columns.group_names) == {"local", "broad"}


def test_a_learner_of_another_plugin_gets_scaled_rows(sample):
    system = systems.SystemConfig(
        systems.RLSC_COMB.extractors, {"@disambig_learners": "random_subspace.SGD.v1"}, scaled=True
    )
    bench = Bench(sample.occurrences, sample.train)
    features, _ = bench.features(system)
    train, test = (sample.occurrences.select_word(0, part) for part in (sample.train, sample.test))
    chosen = decide_senses(system, features, sample.occurrences, train, [test, test[:1]])
    assert len(chosen[0]) == 6 and chosen[1] == chosen[0][:1]
    assert set(chosen[0]) <= {"bank%1", "bank%2", "U"}


def test_a_word_of_one_sense_has_that(sample):
    bench = Bench(sample.occurrences, sample.train)
    features, _ = bench.features(systems.RLSC_COMB)
    train, test = np.array([1, 3]), np.array([40, 41])
    reports: list = []
    chosen = decide_senses(systems.RLSC_COMB, features, sample.occurrences, train, [test], reports=reports)
    assert chosen == [["bank%1", "bank%1"]] and not reports
    assert leave_one_out(systems.RLSC_COMB, features, sample.occurrences, train) == 1.0
    assert most_frequent(sample.occurrences, np.array([2, 5, 1]), [test]) == [["bank%2"] * 2]


def test_marks_of_multiwords_are_read(tmp_path):
    folder = write_senseval(tmp_path, SECOND)
    for name, number in ((SECOND.train, "train3"), (SECOND.test, "test1")):
        before, at, after = (folder / name).read_text("latin-1").partition(f'<instance id="play.{number}"')
        after = after.replace("<head>", '<head sats="play_along.003:0">', 1)
        (folder / name).write_text(before + at + after, "latin-1")
    multiwords = editions.read_edition(SECOND, tmp_path, quick=False).occurrences.multiwords
    assert [n for n, each in enumerate(multiwords) if each] == [12 + 3, 36 + 6 + 1]
    assert multiwords[12 + 3] == "play_along"


@pytest.fixture
def marked(sample):
    """Occurrences of one word: twenty to learn from, of "call_up%1" all but one marked, and three to test."""
    senses = [("call%1",)] * 9 + [("call_up%1", "U")] + [("call_up%1",)] * 10 + [("call%1",)] * 3
    multiwords = [""] * 10 + ["call_up"] * 10 + ["call_up", "", "call_in"]
    few = sample.occurrences.instances.take(np.arange(23))
    same = replace(few, groups=np.zeros(23, np.int32))
    return replace(
        sample.occurrences, instances=same, words=("call.v",), senses=senses, multiwords=multiwords
    )


def test_marks_say_which_senses_are_possible(marked):
    train, test = np.arange(20), np.arange(20, 23)
    names = ["call_up%1", "call%1", "U"]
    assert possible_senses(marked, train, test, names).tolist() == [
        [True, False, False],
        [False, True, True],
        [True, True, True],  # no sense of that multiword is known
    ]
    seldom = replace(marked, multiwords=[""] * 12 + marked.multiwords[12:])
    assert possible_senses(seldom, train, test, names)[1].all()
    assert possible_senses(marked, train, test[:0], names).shape == (0, 3)
    only = np.arange(10, 20)
    assert possible_senses(marked, only, test, ["call_up%1"]).tolist() == [[True]] * 3


def test_the_answers_of_a_test_are_not_looked_at(marked):
    other = replace(marked, senses=[*marked.senses[:20], ("x%1",), ("call_up%1",), ()])
    train, test, names = np.arange(20), np.arange(20, 23), ["call_up%1", "call%1", "U"]
    assert (possible_senses(marked, train, test, names) == possible_senses(other, train, test, names)).all()


def test_decisions_keep_to_what_is_possible(marked):
    train, test = np.arange(20), np.arange(20, 23)
    assert most_frequent(marked, train, [test]) == [["call_up%1"] * 3]
    expected = ["call_up%1", "call%1", "call_up%1"]
    assert most_frequent(marked, train, [test, test[:1]], multiwords=True) == [expected, expected[:1]]
    features, _ = Bench(marked, train).features(systems.RLSC_COMB)
    alone = decide_senses(systems.RLSC_COMB, features, marked, train, [test])[0]
    kept = decide_senses(systems.MARKED["COMB, marked phrasal verbs"], features, marked, train, [test])[0]
    assert kept[0] == "call_up%1" and kept[1] != "call_up%1" and kept[2] == alone[2]


def test_scores_by_reading_and_part_of_speech(sample):
    chosen = [sample.key[each][-1] for each in sample.ids]  # "U" of the first, else what is right
    chosen[3], chosen[7] = "bank%2", "no sense"
    right = [sense in sample.key[each] for sense, each in zip(chosen, sample.ids, strict=True)]
    figures = scored.system_figures(sample, tried_of(right, chosen))
    assert figures["fine"] == (pytest.approx(100 * 16 / 18), 18)
    assert figures["coarse"][0] == pytest.approx(100 * 17 / 18)  # both senses of a word are one group
    assert figures["nouns"] == (pytest.approx(100 * 5 / 6), 6)
    assert figures["verbs"] == (pytest.approx(100 * 5 / 6), 6)
    assert figures["adjectives"] == (100.0, 6)


def test_leave_one_out_is_deciding_each_training_instance_by_all_others(sample):
    words = {"bank.n": range(12), "play.v": range(12, 24), "cool.a": range(24, 36)}
    chosen = {
        "lin": table1.TABLE1_SYSTEMS[table1.LIN],
        "improved, plain": table1.TURNED_DOWN["COMB, improved, no boundary words"],
    }
    found = scored.leave_one_out_accuracies(sample, chosen, progress=silent)
    for name, system in chosen.items():
        features, _ = Bench(sample.occurrences, sample.train).features(system)
        hits = 0
        for word in words.values():
            for out in word:
                rest, test = np.array([each for each in word if each != out]), np.array([out])
                (answer,) = decide_senses(system, features, sample.occurrences, rest, [test])[0]
                hits += answer in sample.occurrences.senses[out]
        assert found[name] == pytest.approx(100 * hits / 36) and hits > 24


def test_rows_stand_beside_the_papers():
    scores = {"fine": (70.0, 9), "nouns": (60.0, 4)}
    rows = tables.table_rows({"Senseval-2": {"RLSC-COMB": scores, "COMB, x": scores}})
    known = {(row.system, row.setting): row for row in rows}
    assert (known["RLSC-COMB", "fine"].paper, known["RLSC-COMB", "fine"].ours) == (65.6, 70.0)
    assert (known["RLSC-COMB", "Senseval-3"].paper, known["RLSC-COMB", "Senseval-3"].ours) == (72.2, None)
    assert ("COMB, x", "Senseval-3") not in known and ("RLSC-COMB", "coarse") not in known
    third = {"Senseval-3": {"RLSC-COMB": {"fine": (71.0, 5)}}}
    rows = tables.table_rows({"Senseval-2": {"RLSC-COMB": scores}, **third})
    assert [row.ours for row in rows if row.setting == "Senseval-3"] == [71.0]


def test_claims_of_table_1_follow_the_figures():
    names = list(table1.TABLE1_SYSTEMS)
    right = {name: np.arange(100) < 60 + 3 * n for n, name in enumerate(names)}
    found = {name: tried_of(each) for name, each in right.items()}
    fine = {name: 100 * float(each.mean()) for name, each in right.items()}
    claims = {claim.claim: claim.holds for claim in table1.table1_claims(found, fine)}
    assert claims["RLSC-COMB is above RLSC-LIN"] and len(claims) == len(names) + 3
    assert not claims["RLSC-COMB reaches 65.6 (Senseval-2, fine-grained)"]
    assert claims["COMB, improved reaches 67.0 (Senseval-2, fine-grained)"]
    assert not claims["COMB, weights by alignment is above RLSC-COMB (p < 0.05)"]  # three instances
    assert claims["COMB, improved is above RLSC-COMB (p < 0.05)"]
    assert claims["COMB, improved, marked phrasal verbs is above COMB, improved (p < 0.05)"]


def test_a_quick_run_claims_nothing_about_all_words(tmp_path):
    write_senseval(tmp_path, SECOND)
    claims, notes = {}, {}
    for quick in (True, False):
        result = table1.Popescu2004Table1().run(data=tmp_path, quick=quick, progress=lambda *said: None)
        claims[quick] = {claim.claim for claim in result.claims}
        notes[quick] = [note for note in result.notes if "are left out: a fifth were tried" in note]
    left_out = claims[False] - claims[True]
    assert len(left_out) == 5 and all("reaches" in claim for claim in left_out)
    assert claims[True] < claims[False] and len(claims[True]) == len(table1.TABLE1_SYSTEMS) - 2
    assert len(notes[True]) == 1 and not notes[False]


def test_claims_of_table_2_follow_the_figures():
    names = list(table2.TABLE2_SYSTEMS)
    found = {name: tried_of(np.arange(100) < 60) for name in names}
    fine = dict.fromkeys(names, 60.0)
    assert [claim.holds for claim in table2.table2_claims(found, fine)] == [True] * 4 + [False]
    fine["SVM-LIN"] = 60.1
    assert [claim.holds for claim in table2.table2_claims(found, fine)] == [False, True, True, True, False]
    fine["RLSC-COMB"], found["RLSC-COMB"] = 70.0, tried_of(np.arange(100) < 70)
    assert table2.table2_claims(found, fine)[-1].holds


@pytest.mark.parametrize("table", [table1.Popescu2004Table1, table2.Popescu2004Table2])
def test_a_table_on_a_made_sample(tmp_path, table):
    write_senseval(tmp_path, SECOND)
    write_senseval(tmp_path, THIRD, sensemap=False)
    stages = []
    result = table().run(data=tmp_path, quick=True, progress=lambda *said: stages.append(said))
    assert stages[0][0] == "reading Senseval-2" and any("Senseval-3: " in stage for stage, *_ in stages)
    rows = {(row.system, row.setting): row for row in result.rows}
    assert rows["RLSC-COMB", "fine"].ours > 90 and rows["RLSC-COMB", "Senseval-3"].ours > 90
    assert rows["RLSC-COMB", "Senseval-1"].ours is None
    by_leave_one_out = {system: row for (system, setting), row in rows.items() if setting == "leave-one-out"}
    if table is table1.Popescu2004Table1:
        assert by_leave_one_out["RLSC-COMB"].ours > 80 and by_leave_one_out["RLSC-COMB"].n == 36
        assert ("RLSC-LIN, boundary words", "fine") not in rows
    assert set(by_leave_one_out) == (
        set(table1.BY_LEAVE_ONE_OUT) if table is table1.Popescu2004Table1 else set()
    )
    assert any("Senseval-1: not in the data" in note for note in result.notes)
    assert not any("broken" in note for note in result.notes)
    assert any("learning" in note and "features" in note for note in result.notes)
    assert result.claims and result_lines(table().title, result)
    said = json.loads(json.dumps(as_json("name", result)))
    assert as_json("name", from_json(said)) == said


def test_both_other_editions_are_said_where_to_get(tmp_path):
    (note,) = editions.missing_files(tmp_path)
    assert "Senseval-1 and Senseval-3" in note and "senseval.org" in note and "EnglishLS.train" in note
    for edition in editions.OTHERS:
        write_senseval(tmp_path, edition)
    assert editions.missing_files(tmp_path) == []


def test_every_system_can_be_built():
    for system in (*(table1.TABLE1_SYSTEMS | table1.TURNED_DOWN).values(), *table2.TABLE2_SYSTEMS.values()):
        if not system.extractors:
            continue
        assert hasattr(system.built(), "fit")
        resolve({"extractors": dict(system.extractors)})


def test_without_the_files_the_command_says_which(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main.run(["reproduce", "popescu2004.table1", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert caught.value.code == 2 and "[D721" in said.err and "senseval2" in said.err


@pytest.mark.parametrize("name", ["table1", "table2", "curves"])
def test_a_broken_file_is_a_line_on_the_terminal(tmp_path, capsys, name):
    folder = write_senseval(tmp_path, SECOND)
    (folder / SECOND.train).write_text("no instance", "latin-1")
    with pytest.raises(SystemExit) as caught:
        main.run(["reproduce", f"popescu2004.{name}", "--quick", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.out == "" and said.err.count("\n") == 1 and "[D490]" in said.err
