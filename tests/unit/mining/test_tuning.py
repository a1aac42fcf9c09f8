"""Tuning: choices on the older half of a history, measurements on the newer half, and written settings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from disambig.configuration import ProjectSettings
from disambig.data import PrecisionPoint, PrecisionTable
from disambig.errors import UserError
from disambig.evaluation import ProposedEdit
from disambig.formats import Clean, Fix
from disambig.mining import IGNORE_FILE, HistoryHalf, Miner, ProjectLayer, divide, tune, tuned_settings


class FakeChecker:
    """Proposes corrections of words by a table: written, meant, task and probability.

    The limit of a task is one minus its rate.
    """

    name, tasks = "fake", ("one", "two")

    def __init__(self, *table):
        self.table = table

    def rates(self, flags_per_1000=None):
        return {"one": 0.2, "two": 0.2} | dict(flags_per_1000 or {})

    def limits(self, flags_per_1000=None):
        return {task: 1 - rate for task, rate in self.rates(flags_per_1000).items()}

    def edits(self, texts, flags_per_1000=None):
        limits, edits_by_text = self.limits(flags_per_1000), [[] for _ in texts]
        for old, new, task, sure in self.table:
            for edits, text in zip(edits_by_text, texts if sure > limits[task] else (), strict=False):
                places = (match.span() for match in re.finditer(rf"\b{old}\b", text))
                edits += [ProposedEdit(start, end, new, task, sure) for start, end in places]
        return edits_by_text


STONE = FakeChecker(("stone", "stones", "one", 0.9))
TWO_STONES = FakeChecker(("stone", "stones", "one", 0.9), ("stone", "atone", "two", 0.95))


def mistake(old, new, number=1):
    before = f"In story {number} the word {old} was written."
    start = before.index(old)
    return Fix(before, start, start + len(old), old, new, "other", "", "replace", 1, "p")


def clean(*texts):
    return [Clean(text, "p") for text in texts]


def half(fixes=(), texts=()):
    return HistoryHalf(list(fixes), clean(*texts))


def stones(n):
    return [f"There is stone at place {number} of the road." for number in range(n)]


def test_repeated_flags_without_corrections_are_ignored():
    checker = FakeChecker(("stone", "stones", "one", 0.9), ("form", "from", "one", 0.9))
    fixes = [mistake("form", "from", i) for i in range(12)]
    older = half(fixes, [*stones(3), "Please fill in the form today.", "This form is of another kind."])
    newer = half([mistake("form", "from", 90)], stones(5)[3:])
    tuned = tune(checker, older, newer)
    assert tuned.layer.ignore == ("stone -> stones",)  # "form" is corrected by the writers
    before, after = tuned.measured["newer, as shipped"], tuned.measured["newer, tuned"]
    assert (before.false_flags, after.false_flags) == (2, 0)
    assert (after.right, tuned.gained, tuned.lost) == (1, 0, 0)
    assert tuned.pairs == (("form", "from", 13, 13),)


def test_a_word_with_several_wrong_corrections_is_ignored_as_a_word():
    assert tune(TWO_STONES, half(texts=stones(3)), half()).layer.ignore == ("stone",)
    both = tune(TWO_STONES, half(texts=stones(2)), half())
    assert both.layer.ignore == ("stone -> atone", "stone -> stones")
    corrected = half([mistake("stone", "store")], stones(3))
    assert "stone" not in tune(TWO_STONES, corrected, half()).layer.ignore


def test_entries_without_effect_are_left_out():
    """Here "stones" loses against "atone", which the writers correct."""
    texts = ["A red stone lay there.", "One big stone fell off.", "No old stone is round."]
    assert tune(TWO_STONES, half([mistake("stone", "atone")], texts), half()).layer.ignore == ()


def test_a_correction_of_a_frequent_word_is_ignored_beside_its_neighbour_only():
    checker = FakeChecker(("an", "a", "one", 0.9))
    usual = [f"Here is a good stone of kind {i}." for i in range(9)]
    texts = ["We have an SQL table here.", "It is not an SQL file at all.", "We saw an eel there."]
    tuned = tune(checker, half(texts=[*texts, *usual, "Or an eagle in the air."]), half())
    assert tuned.layer.ignore == ("an -> a",)  # all four are flagged: it is always wrong here
    half_known = half([mistake("an", "a", i) for i in range(3)], texts)
    assert tune(checker, half_known, half()).layer.ignore == ("an sql -> a sql",)


def test_precise_tasks_need_more_flags_to_ignore():
    point = PrecisionPoint(0.0, 0.8, 0.7, 0.9, 80, 10, 10)
    trust = {"one": PrecisionTable("one", "a test", 5.0, (point,))}
    for n, ignored in ((2, ()), (3, ("stone -> stones",))):
        assert tune(STONE, half(texts=stones(n)), half(), trust=trust).layer.ignore == ignored


def test_corrections_of_the_newer_half_are_not_ignored():
    tuned = tune(STONE, half(texts=stones(3)), half([mistake("stone", "stones")], stones(1)))
    assert (tuned.layer.ignore, tuned.dropped) == ((), ("stone -> stones",))
    assert tuned.lost == 1  # the figures are those before it was dropped


def test_rates_fall_where_flags_are_false_and_rise_where_they_are_right():
    table = [(f"wrong{i}", f"right{i}", "two", 0.75) for i in range(4)]
    table += [(f"plain{i}", f"plane{i}", "one", 0.85) for i in range(4)]
    table += [("form", "from", "two", 0.9)]
    fixes = [mistake("form", "from", i) for i in range(10)]
    fixes += [mistake(f"wrong{i}", f"right{i}", i) for i in range(4)]
    texts = [f"Here the word plain{i} stands in a row." for i in range(4)] * 30
    texts = [f"{text} {number}" for number, text in enumerate(texts)]
    older = half(fixes, texts)
    tuned = tune(FakeChecker(*table), older, older, ignore=["plain0"])
    assert tuned.measured["older, as shipped"].false_flags == 90
    assert tuned.measured["older, tuned"].false_flags == 0
    assert tuned.measured["older, tuned"].right >= tuned.measured["older, as shipped"].right == 10


@pytest.mark.parametrize(("n_found", "chosen"), [(1, False), (8, True)])
def test_rates_that_improve_by_chance_are_not_set(n_found, chosen):
    """One task gives way to another, which corrects one or several mistakes instead."""
    table = [("slip", "lips", "one", 0.81), ("form", "from", "one", 0.9)]
    table += [(f"plain{i}", f"plane{i}", "one", 0.82) for i in range(40)]
    table += [(f"wrong{i}", f"right{i}", "two", 0.75) for i in range(n_found)]
    fixes = [mistake("form", "from", i) for i in range(10)] + [mistake("slip", "lips")]
    fixes += [mistake(f"wrong{i}", f"right{i}", i) for i in range(n_found)]
    older = half(fixes, [f"Here the word plain{i} stands in a row." for i in range(40)])
    tuned = tune(FakeChecker(*table), older, half())
    assert bool(tuned.layer.rates) is chosen
    assert any("cross-validation" in note for note in tuned.notes) is not chosen


def test_with_few_mistakes_rates_are_kept_and_figures_have_intervals_or_are_missing():
    tuned = tune(STONE, half([mistake("stone", "stones")], stones(1)), half())
    assert not tuned.layer.rates
    assert "rates are not chosen" in tuned.notes[0]
    at = tuned.measured["older, as shipped"].as_json()
    low, high = at["right_interval"]
    assert low < at["right_share"] == 1 == high
    assert at["false_per_1000"] == pytest.approx(1000 / 9)
    assert tuned.measured["newer, tuned"].as_json()["right_share"] is None


def test_a_history_is_divided_in_time(history, vocabulary):
    wrong = [f"The boats of {name} was late again." for name in ("Rome", "Paris", "Oslo", "Cork")]
    right = [text.replace("was", "were") for text in wrong]
    old, young = "This paragraph stood here in the beginning.", "This one was written in the second half."
    history.commit("first", {"a.md": "\n\n".join([old, *wrong])})
    for i in range(4):
        texts = [old, *right[: i + 1], *wrong[i + 1 :], *([young] if i > 1 else [])]
        history.commit("Fix typo", {"a.md": "\n\n".join(texts)}, days=500)
    history.commit("last", {"b.md": "A text of another kind is added here."}, days=500)
    older, newer, _, mined = divide(Miner(str(history.home), vocabulary, "en"))
    assert [fix.before for fix in older.fixes] == wrong[:2]
    assert [fix.before for fix in newer.fixes] == wrong[2:]
    assert old in [paragraph.text for paragraph in older.clean]
    assert young in [paragraph.text for paragraph in newer.clean]
    assert not {one.text for one in older.clean} & {one.text for one in newer.clean}
    assert mined.commits == 6


def test_a_note_says_how_old_the_clean_paragraphs_are(history, vocabulary):
    text = "The boats was late, some old ships was lost, many young cats was fed, and all dogs was asleep.\n"
    history.commit("first", {"a.md": text})
    for days in (100, 100, 900, 900):  # the only paragraph is changed by each commit
        text = text.replace("was", "were", 1)
        history.commit("Fix typo", {"a.md": text}, days=days)
    miner = Miner(str(history.home), vocabulary, "en")
    *_, mined = divide(miner)
    assert "clean paragraphs of the older half have not changed for 50 days" in mined.notes
    *_, mined = divide(miner, days=20)  # not more days than asked for
    assert not [note for note in mined.notes if "older half" in note]


def test_few_corrections_cannot_be_divided(history, vocabulary):
    history.commit("first", {"a.md": "The boats of Rome was late again."})
    with pytest.raises(UserError, match=r"D545.* has 0 word corrections, too few"):
        divide(Miner(str(history.home), vocabulary, "en"))
    history.commit("Fix typo", {"a.md": "The boats of Rome were late again."}, days=500)
    with pytest.raises(UserError, match=r"D545.* has 1 word correction, too few"):
        divide(Miner(str(history.home), vocabulary, "en"))


@pytest.mark.parametrize(
    ("option", "note"),
    [("--depth=1", "a shallow clone"), ("--filter=blob:none", "a partial clone: 2 versions")],
)
def test_incomplete_clones_are_named(history, vocabulary, tmp_path, option, note):
    history.commit("first", {"a.md": "The boats of Rome was late again."})
    history.commit("Fix typo", {"a.md": "The boats of Rome were late again."}, days=500)
    history.commit("last", {"a.md": "The boats of Rome were late again, as always."}, days=500)
    for key in ("allowFilter", "allowAnySHA1InWant"):
        history.git("config", f"uploadpack.{key}", "true")
    clone = ["git", "clone", "-q", option, Path(history.home).as_uri(), str(tmp_path / "clone")]
    subprocess.run(clone, check=True)
    with pytest.raises(UserError, match=rf"D545.*note: {note}"):
        divide(Miner(str(tmp_path / "clone"), vocabulary, "en"))


LAYER = ProjectLayer({"spelling": 0.3}, ("stone", "login -> log in"))


def test_settings_are_written_beside_those_of_the_user(tmp_path):
    file = tmp_path / "disambig.toml"
    file.write_text('# our rules\nignore = ["quite"] # a name\n\n[overrides."docs/"]\nignore = ["then"]\n')
    settings = tuned_settings(str(tmp_path), LAYER)
    settings.write()
    text = file.read_text()
    assert text.startswith('# our rules\nignore = ["quite"] # a name\n')
    for name, words in (("a.md", {"quite"}), ("docs/a.md", {"quite", "then"})):
        chosen = ProjectSettings().for_file(str(tmp_path / name))
        assert dict(chosen.flags_per_1000) == {"spelling": 0.3}
        assert set(chosen.words_to_ignore()) == {"stone", "login -> log in", *words}
    again = tuned_settings(str(tmp_path), ProjectLayer({"slip": 0.1}, ()))
    again.write()
    assert file.read_text() == text.replace("spelling = 0.3", "slip = 0.1")
    assert not again.keeps_rates
    assert (tmp_path / IGNORE_FILE).read_text().count("\n") == 1
    tuned_settings(str(tmp_path), ProjectLayer()).write()
    assert "flags_per_1000" not in file.read_text()


@pytest.mark.parametrize(
    "theirs", ["flags_per_1000 = 0.5\n", "flags_per_1000 = { slip = 1 } # ours\n", 'trust = "4/5"\n']
)
def test_rates_of_the_user_are_kept(theirs, tmp_path):
    (tmp_path / "disambig.toml").write_text(theirs)
    settings = tuned_settings(str(tmp_path), LAYER)
    assert settings.keeps_rates
    assert settings.text.startswith(theirs)
    assert "spelling" not in settings.text


def test_settings_in_pyproject(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(
        '[project]\nname = "x" # the name\n\n[tool.disambig]\nignore = ["quite"]\n\n[tool.other]\na = 1\n'
    )
    tuned_settings(str(tmp_path), LAYER).write()
    assert "# the name" in file.read_text()
    assert dict(ProjectSettings().for_file(str(tmp_path / "a.md")).flags_per_1000) == {"spelling": 0.3}


def test_line_ends_of_the_settings_are_kept(tmp_path):
    file = tmp_path / "disambig.toml"
    file.write_bytes(b"# ours\r\nwriting = 'draft'\r\n")
    tuned_settings(str(tmp_path), LAYER).write()
    written = file.read_bytes()
    assert written.startswith(b"# ours\r\nwriting = 'draft'\r\n")
    assert b"spelling = 0.3" in written
    assert written.count(b"\n") == written.count(b"\r\n")


def test_if_nothing_is_learned_nothing_is_written(tmp_path):
    settings = tuned_settings(str(tmp_path), ProjectLayer())
    settings.write()
    assert (settings.changed, list(tmp_path.iterdir())) == ((), [])
    file = tmp_path / "disambig.toml"
    file.write_text('ignore = ["quite"]')
    tuned_settings(str(tmp_path), ProjectLayer()).write()
    assert file.read_text() == 'ignore = ["quite"]' and list(tmp_path.iterdir()) == [file]
    only_rates = tuned_settings(str(tmp_path), ProjectLayer({"spelling": 0.3}))
    only_rates.write()
    assert only_rates.changed == (str(file),) and not (tmp_path / IGNORE_FILE).exists()
    assert set(ProjectSettings().for_file(str(tmp_path / "a.md")).words_to_ignore()) == {"quite"}


def test_settings_above_the_project_are_named_and_not_changed(tmp_path):
    above = tmp_path / "disambig.toml"
    above.write_text('ignore = ["quite"]\n')
    (tmp_path / "project").mkdir()
    settings = tuned_settings(str(tmp_path / "project"), LAYER)
    settings.write()
    assert (settings.path, settings.hides) == (str(tmp_path / "project" / "disambig.toml"), str(above))
    assert above.read_text() == 'ignore = ["quite"]\n'
    chosen = ProjectSettings().for_file(str(tmp_path / "project" / "a.md"))
    assert set(chosen.words_to_ignore()) == set(LAYER.ignore)
    assert tuned_settings(str(tmp_path / "project"), LAYER).hides == ""


def test_a_file_of_the_user_is_never_replaced(tmp_path):
    (tmp_path / IGNORE_FILE).write_text("stone\n")
    with pytest.raises(UserError, match="D546"):
        tuned_settings(str(tmp_path), LAYER)
