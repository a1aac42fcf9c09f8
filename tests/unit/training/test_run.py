"""A training run as a config states it: settings are checked before the text is read."""

from __future__ import annotations

import pytest
from toy_texts import CONFIG

from disambig.errors import UserError
from disambig.training import read_plan, run


@pytest.mark.parametrize(
    ("setting", "seen"),
    [
        ("flags_per_1000 = -1", "training.flags_per_1000 is -1, not a number of at least 0"),
        ('flags_per_1000 = "many"', "training.flags_per_1000 is 'many'"),
        ("max_examples = 0", "training.max_examples is 0"),
        ("least_margin = 100", "training.least_margin is 100, not a number from 0 to 99"),
        ("least_margin = 0.5", "training.least_margin is for tasks with labels"),
        ("max_examples = 2.5", "training.max_examples is 2.5, not a whole number of at least 1"),
        ("max_examples = null", "training.max_examples is None"),
        ("min_examples = true", "training.min_examples is True"),
        ('seed = "x"', "training.seed is 'x'"),
        ("seed = -1", "training.seed is -1"),
        ('lines = "no"', "training.lines is 'no', not true or false"),
        ('text = "texts"', "training.text is 'texts', not a list"),
        ("text = [1]", "training.text is [1]"),
        ("max_exampels = 5", "unknown setting training.max_exampels; known settings: max_examples"),
    ],
)
def test_a_setting_that_makes_no_sense(load_with, tmp_path, setting, seen):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(CONFIG + setting)
    with pytest.raises(UserError) as caught:
        run(tmp_path / "small.cfg")
    assert caught.value.code == "D005"
    assert seen in str(caught.value)


def test_good_settings_pass(load_with, tmp_path):
    load_with(toys="toy_plugin")
    (tmp_path / "some.txt").write_text("Nothing to decide.")
    settings = "flags_per_1000 = 1\nmax_examples = 10\nmin_examples = 0\nseed = 3\nlines = true\n"
    (tmp_path / "small.cfg").write_text(CONFIG + settings + f'text = ["{tmp_path / "some.txt"}"]')
    with pytest.raises(UserError) as caught:
        run(tmp_path / "small.cfg")
    assert caught.value.code == "D412"
    (tmp_path / "none.cfg").write_text(CONFIG + settings)
    with pytest.raises(UserError, match=r"D412.* text .*--text, labelled examples with --labelled"):
        run(tmp_path / "none.cfg")


JUDGE = """
[judge]
@disambig_judges = "disambig.{}.v1"
"""
LISTS = CONFIG.replace("toys.Pairs.v1", "disambig.Lists.v1")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            LISTS.replace("toys.NearbyWords.v1", "disambig.SourceFeatures.v1") + JUDGE.format("Labels"),
            r"D422.*rule Labels is for .* a group or labels, but 'rerank' .* candidates of each instance",
        ),
        (
            CONFIG.replace("toys.Pairs.v1", "toys.Marks.v1") + JUDGE.format("Corrections"),
            r"D422.*rule Corrections .*'marks' decides between labels: omit \[judge\]",
        ),
        (LISTS.replace("toys.NearbyWords.v1", "disambig.ContextWords.v1"), "D419.*extractor ContextWords "),
        (CONFIG.replace("toys.NearbyWords.v1", "disambig.TextNgrams.v1"), "D418.*extractor TextNgrams "),
    ],
)
def test_parts_for_other_candidates_are_refused_when_the_config_is_read(load_with, tmp_path, config, said):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(config)
    with pytest.raises(UserError, match=said):
        read_plan(tmp_path / "small.cfg")
