"""Configs and settings: reading, building objects, validation, messages."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from examples import any_json
from hypothesis import given, strategies as st
from toy_texts import WORDS_CONFIG

from disambig.config import check_settings, read_config, resolve, write_config
from disambig.counts import open_table
from disambig.errors import UserError
from disambig.settings import (
    ABOVE_ZERO,
    COUNT,
    DECODER,
    NON_NEGATIVE,
    NON_NEGATIVE_COUNT,
    SVM_C,
    choice,
    fitted_field,
    get_settings,
    validate_settings,
)
from disambig.text import Words
from disambig.training import read_plan


def test_round_trip(tmp_path):
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": ["a/b", "it's/its"]},
        "learner": {"@disambig_learners": "toys.Perceptron.v1"},
        "numbers": {"C": 1e-05, "n": 3, "free": None, "yes": True},
    }
    write_config(config, tmp_path / "x.cfg")
    assert read_config(tmp_path / "x.cfg") == config


@pytest.mark.parametrize("content", [None, b"\xff\xfe[a]", b"[a", b"a = 1", b"[a]\nx = ${b.c}\n"])
def test_rejects_files_that_are_not_configs(tmp_path, content):
    path = tmp_path / "x.cfg"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_config(path)
    assert caught.value.code == "D005"
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_builds_nested_objects_first(load_with):
    load_with(toys="toy_plugin")
    built = resolve({"a": {"b": {"@disambig_tokenisations": "disambig.words.v1"}, "n": 1}})
    assert isinstance(built["a"]["b"], Words)
    assert built["a"]["n"] == 1


PROTOCOLS = ("Decoder", "DecisionRule", "FeatureExtractor", "Kernel", "Learner", "Task")


def test_a_setting_may_be_declared_as_a_protocol(load_with, monkeypatch, tmp_path):
    source = (
        "from dataclasses import dataclass\n"
        f"from disambig.api import {', '.join(PROTOCOLS)}, hookimpl\n"
        "@dataclass(frozen=True)\n"
        "class Declared:\n"
        + "".join(f"    {name.lower()}: {name} | None = None\n" for name in PROTOCOLS)
        + "@hookimpl\n"
        "def disambig_register_learners(register):\n"
        "    register('declared.Declared.v1', Declared)\n"
    )
    (tmp_path / "settings_of_a_test.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    load_with(declared="settings_of_a_test")
    section = {"@disambig_learners": "declared.Declared.v1"}
    assert resolve({"learner": section})["learner"].decoder is None
    decoder = {"@disambig_decoders": "disambig.Enumerated.v1"}
    assert resolve({"learner": {**section, "decoder": decoder}})["learner"].decoder is not None
    with pytest.raises(UserError, match=r"D005.*decoder in \[learner\] is 3: give"):
        resolve({"learner": {**section, "decoder": 3}})
    with pytest.raises(UserError, match=r"has decoder = disambig\.words\.v1: give @disambig_decoders"):
        resolve({"learner": {**section, "decoder": {"@disambig_tokenisations": "disambig.words.v1"}}})


@pytest.mark.parametrize(
    ("section", "code", "expected"),
    [
        ({"@disambig_tasks": "toys.Pears.v1"}, "D001", "toys.Pairs.v1"),
        ({"@disambig_taks": "toys.Pairs.v1"}, "D001", "@disambig_tasks"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pears": 1}, "D005", "pears"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pairs": 7}, "D005", "pairs"),
        ({"deep": {"@disambig_learners": "nothing.v1"}}, "D001", "nothing.v1"),
        ({"deep": {"@disambig_commands": "disambig.check.v1"}}, "D001", "@disambig_commands"),
        (
            {"@disambig_tasks": "disambig.Lists.v1", "name": {"@disambig_decoders": "disambig.Chain.v1"}},
            "D005",
            'disambig.Lists.v1 has name = disambig.Chain.v1: give a text in double quotes, such as "x"',
        ),
        *(({"@disambig_tasks": name}, "", "") for name in (5, ["disambig.Words.v1"], None, {"a": 1}, True)),
        ({"@disambig_tasks": "toys.Pairs.v1", "@disambig_learners": "x"}, "", ""),
        (
            {"@disambig_tasks": "toys.Pairs.v1", "@disambig_tokenisations": "disambig.words.v1"},
            "D005",
            "[task] has @disambig_tasks and @disambig_tokenisations: each needs a section of its own",
        ),
    ],
)
def test_rejects_invalid_entries(load_with, section, code, expected):
    load_with(toys="toy_plugin")
    with pytest.raises(UserError) as caught:
        resolve({"task": section})
    assert caught.value.code in ((code,) if code else ("D001", "D005"))
    assert expected in str(caught.value) and "\n" not in str(caught.value)


@given(
    st.dictionaries(st.text(max_size=5), st.dictionaries(st.sampled_from(["@disambig_tasks", "a"]), any_json))
)
def test_any_config_is_built_or_a_user_error(config):
    try:
        resolve(config)
    except UserError as error:
        assert error.code in ("D001", "D005")


@pytest.mark.parametrize(
    ("old", "new", "code", "expected"),
    [
        ("counts = ", "count = ", "D005",
         "[extractors.counts] disambig.NgramCounts.v1 has no setting 'count'"),
        ('counts = "disambig_en"', "", "D005",
         "[extractors.counts] disambig.NgramCounts.v1 needs the setting"),
        ('["bring", "take"]', "['bring', 'take']", "D663", "candidates is the text"),
        ('["bring", "take"]', '"bring"', "D663", "candidates is the text 'bring', not a list"),
        ("candidates =", "language = 5\ncandidates =", "D005",
         "language in [task] is 5: give a text in double"),
        ("[learner]", "[learn]", "D005", "unknown section [learn]; known sections: learner"),
        ("[learner]", "[learner", "D005", "line 12: '[learner' is neither a [section] nor"),
        ("[learner]", "[task]", "D005", "line 12: the section [task] occurs twice"),
        ("candidates =", "name = 'x'\nname = 'y'\ncandidates =", "D005",
         "line 6: name is set twice in [task]"),
        ("[extractors]", "", "D005", "write [extractors] in a line above [extractors.counts]"),
        ("[model]", "hello\n[model]", "D005", "line 1: 'hello' is not in a section"),
        ('"my/words"', "${task.nam}", "D005",
         "name in [model] refers to ${task.nam}, and this config sets no"),
        ("@disambig_learners", "disambig_learners", "D661",
         "[learner]: it names none, but it must name an entry"),
        ("@disambig_extractors", "@disambig_learners", "D661",
         "[extractors.counts]: it has @disambig_learners"),
        ("[extractors]\n[extractors.counts]", "[extractors]", "D662",
         "it names an extractor itself; give each extractor"),
        (WORDS_CONFIG[WORDS_CONFIG.index("[baseline]") :], "", "D005",
         "section [baseline] is missing: name a learner"),
        (WORDS_CONFIG[WORDS_CONFIG.index("[extractors.c") : WORDS_CONFIG.index("[learner]")], "", "D662",
         "it contains no extractor"),
    ],
)  # fmt: skip
def test_messages_use_the_terms_of_the_config(tmp_path, old, new, code, expected):
    path = tmp_path / "my.cfg"
    assert old in WORDS_CONFIG
    path.write_text(WORDS_CONFIG.replace(old, new, 1 if "learners" in old else -1))
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == code and expected in str(caught.value)
    for word in ("class '", "at root", "factory", "<string>", "\n"):
        assert word not in str(caught.value)
    if code != "D663":
        assert str(path) in str(caught.value)


def test_reports_a_missing_file(tmp_path):
    with pytest.raises(UserError, match=r"D005.*no such file"):
        read_plan(tmp_path / "my.cfg")


def test_counts_must_be_a_table(tmp_path):
    for counts in (5, "", ["a"]):
        with pytest.raises(UserError, match="D660"):
            open_table(counts)


def test_warns_of_single_quotes(tmp_path):
    (tmp_path / "my.cfg").write_text("[model]\nname = 'x'\n")
    with pytest.warns(UserWarning, match=r"my\.cfg: .*single-quoted"):
        assert read_config(tmp_path / "my.cfg") == {"model": {"name": "'x'"}}


@dataclass(frozen=True)
class ToyWords:
    least: int = 2
    names: list[str] = field(default_factory=lambda: ["a"])
    known: tuple[str, ...] = fitted_field(())
    cross_fit: ClassVar[bool] = True


def toy_function(rate=0.5, *, seed: int = 3):
    return rate, seed


def test_fitted_fields_are_not_settings():
    assert {name: item.default for name, item in get_settings(ToyWords).items()} == {
        "least": 2,
        "names": ["a"],
    }
    learned = replace(ToyWords(least=3), known=("x",))
    assert (learned.least, learned.known, ToyWords().known) == (3, ("x",), ())


def test_settings_of_a_function():
    assert list(get_settings(toy_function)) == ["rate", "seed"]


def test_configs_cannot_set_fitted_fields():
    config = {"extractors": {"words": {"@disambig_extractors": "toys.Words.v1", "known": ["x"]}}}
    with pytest.raises(UserError, match=r"toys\.Words\.v1 has no setting 'known': it has") as caught:
        check_settings(config, lambda kind, name: ToyWords, "my.cfg")
    assert caught.value.code == "D005"
    config["extractors"]["words"] = {"@disambig_extractors": "toys.Words.v1", "least": 3}
    check_settings(config, lambda kind, name: ToyWords, "my.cfg")


any_value = st.one_of(
    st.integers(-3, 3),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=2),
    st.sampled_from([np.int32(2), np.float32(0.5), np.bool_(True), Fraction(1, 3), 10**400, -(10**400), [1]]),
)


def is_real(value):
    number = isinstance(value, int | float | np.integer | np.floating | Fraction)
    return number and not isinstance(value, bool)


def is_integer(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@given(any_value)
def test_constraints_agree_with_plain_conditions(value):
    fits = is_real(value) and not (isinstance(value, int) and abs(value) > 10**308)
    assert ABOVE_ZERO.accepts(value) == (fits and 0 < value < math.inf)
    assert NON_NEGATIVE.accepts(value) == (fits and 0 <= value < math.inf)
    assert SVM_C.accepts(value) == (fits and 0 < value <= 1e12)
    assert COUNT.accepts(value) == (is_integer(value) and value >= 1)
    assert NON_NEGATIVE_COUNT.accepts(value) == (is_integer(value) and value >= 0)
    assert COUNT.or_none.accepts(value) == (value is None or COUNT.accepts(value))


@dataclass(frozen=True)
class Learner:
    passes: object = 1
    alpha: object = 1.0
    decoder: object = None

    def __post_init__(self):
        validate_settings(self, passes=COUNT, alpha=ABOVE_ZERO.or_none, decoder=DECODER)


def test_names_the_first_invalid_setting():
    Learner(alpha=None)
    with pytest.raises(UserError, match=r"\[D452\] Learner\.passes is 0: "):
        Learner(passes=0, alpha=-1)
    with pytest.raises(UserError, match=r"\[D760\] Learner\.alpha is -1: "):
        Learner(alpha=-1)
    with pytest.raises(UserError, match=r"\[D711\] Learner\.decoder is a str"):
        Learner(decoder="chain")


@given(st.one_of(any_value, st.sampled_from(["row", "rows", "none"])))
def test_choice_accepts_its_names_only(value):
    expected = isinstance(value, str) and value in ("row", "none")
    assert choice("D778", ("row", "none")).accepts(value) == expected


def test_choice_lists_the_nearest_first():
    with pytest.raises(UserError, match=r"\[D778\].*row.*none"):
        choice("D778", ("none", "row")).check("kernel", "rows")


def test_overrides_name_a_setting_of_a_section(tmp_path):
    path = tmp_path / "my.cfg"
    path.write_text(WORDS_CONFIG)
    config = read_config(path, {"learner.C": 0.5, "extractors.counts.counts": "other"})
    assert config["learner"]["C"] == 0.5 and config["extractors"]["counts"]["counts"] == "other"
    for name in ("C", "larner.C", "learner.C.D"):
        with pytest.raises(UserError, match=f"D005.*an override is SECTION.SETTING .*, which {name} is not"):
            read_config(path, {name: 0.5})
