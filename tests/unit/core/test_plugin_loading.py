"""Plugins load each on its own, and whole or not at all; shelves hold what they brought."""

from __future__ import annotations

import sys
import textwrap

import pytest

from disambig import hookspecs, registry
from disambig import registry as plugins
from disambig.config import resolve
from disambig.errors import UserError

HEAD = """
from disambig.hookspecs import hookimpl
class Learner:
    def __init__(self, *, C=1.0): self.C = C
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module that can be imported in this test only."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(HEAD + textwrap.dedent(code), encoding="utf8")
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


def brings(*names, hook="learners"):
    lines = "".join(f"\n    register({name!r}, Learner)" for name in names)
    return f"@hookimpl\ndef disambig_register_{hook}(register):{lines}\n"


def report_of(reports, name):
    (found,) = [report for report in reports if report.name == name]
    return found


def test_a_plugin_is_loaded_and_named(write, load_with):
    write("good_plugin", brings("good.Learner.v1", "good.Learner.v2"))
    report = report_of(load_with(good="good_plugin"), "good")
    assert report.error is None
    assert report.registered == (("learners", "good.Learner.v1"), ("learners", "good.Learner.v2"))
    assert resolve({"learner": {"@disambig_learners": "good.Learner.v2", "C": 3.0}})["learner"].C == 3.0


BROKEN = {
    "at import": ("raise ImportError('no such library')", "ImportError: no such library"),
    "by a mistake": ("1 / 0", "ZeroDivisionError"),
    "by leaving": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "no syntax": ("def (:", "SyntaxError"),
    "unknown hook": (
        "@hookimpl\ndef disambig_register_lerners(register): pass",
        "did you mean disambig_register_learners?",
    ),
    "wrong argument": ("@hookimpl\ndef disambig_register_learners(shelf): pass", "shelf"),
    "in a hook": ("@hookimpl\ndef disambig_register_learners(register): raise KeyError('x')", "KeyError"),
    "no name": (brings("Learner"), "[D004]"),
    "no version": (brings("good.Learner"), "[D004]"),
    "no factory": (
        "@hookimpl\ndef disambig_register_learners(register): register('broken.B.v1', 3)",
        "[D011]",
    ),
    "no place": (
        "@hookimpl\ndef disambig_register_learners(register): register('broken.B.v1', 'somewhere')",
        "[D011]",
    ),
    "beside nothing": (
        "@hookimpl\ndef disambig_register_learners(register): register('broken.B.v1', '.beside:B')",
        "no package specified",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_plugin_stops_nothing(how, write, load_with):
    code, seen = BROKEN[how]
    write("broken_plugin", code)
    write("good_plugin", brings("good.Learner.v1"))
    before = set(registry.load_all("learners"))
    reports = load_with(broken="broken_plugin", good="good_plugin")
    broken = report_of(reports, "broken")
    assert seen in (broken.error or "")
    assert broken.registered == ()
    assert report_of(reports, "good").error is None
    assert set(registry.load_all("learners")) == before | {"good.Learner.v1"}


def test_a_module_that_is_not_there(load_with):
    report = report_of(load_with(ghost="no_such_module_anywhere"), "ghost")
    assert "no_such_module_anywhere" in (report.error or "")


def test_a_name_that_is_taken_is_refused_with_all_that_its_plugin_brings(write, load_with):
    write("a_plugin", brings("same.table1.v1", hook="experiments"))
    b = brings("b.Learner.v1") + brings("same.table1.v1", hook="experiments")
    write("b_plugin", b)
    write("c_plugin", brings("c.Learner.v1", "c.Learner.v1"))
    reports = load_with(c="c_plugin", b="b_plugin", a="a_plugin")
    assert report_of(reports, "a").error is None
    error = report_of(reports, "b").error or ""
    assert "[D006] plugin 'b' cannot register 'same.table1.v1': 'same' is a_plugin's" in error
    assert "[D003]" in (report_of(reports, "c").error or "")
    assert registry.entries("experiments")["same.table1.v1"].owner == "a"
    assert not {"b.Learner.v1", "c.Learner.v1"} & set(registry.entries("learners"))


def test_strict_loading_raises_each_time(write, load_with, monkeypatch):
    write("broken_plugin", "1 / 0")
    monkeypatch.setenv("DISAMBIG_STRICT_PLUGINS", "1")
    for _ in range(2):
        with pytest.raises(UserError) as caught:
            load_with(broken="broken_plugin")
        assert caught.value.code == "D002"
        assert "'broken'" in str(caught.value)
        with pytest.raises(UserError, match="D002"):
            registry.get("tokenisations", "disambig.words.v1")
    monkeypatch.delenv("DISAMBIG_STRICT_PLUGINS")
    assert registry.get("tokenisations", "disambig.words.v1")


def test_tracing_logs_each_hook_call(write, load_with, monkeypatch, caplog):
    write("good_plugin", brings("good.Learner.v1"))
    monkeypatch.setenv("DISAMBIG_TRACE_PLUGINS", "1")
    with caplog.at_level("INFO", logger="disambig.registry"):
        load_with(good="good_plugin")
    assert "disambig_register_learners" in caplog.text


def test_a_plugin_may_ask_the_registry_while_it_loads(write, load_with):
    write("asking_plugin", "from disambig import registry\nseen = registry.load_all('tokenisations')")
    assert report_of(load_with(zz="asking_plugin"), "zz").error is None
    assert "disambig.words.v1" in sys.modules["asking_plugin"].seen


def test_loading_twice_is_loading_once():
    assert plugins.load_plugins() == plugins.load_plugins()
    assert plugins.load_plugins()[0].name == "core"
    plugins.load_plugins().clear()
    assert plugins.load_plugins()


def test_an_unknown_name_is_answered_with_the_nearest_first(load_with):
    load_with(toys="toy_plugin")
    with pytest.raises(UserError) as caught:
        registry.get("learners", "toys.Perceptrom.v1")
    assert caught.value.code == "D001"
    nearest, *others = str(caught.value).partition("available: ")[2].partition(" and ")[0].split(", ")
    assert nearest == "toys.Perceptron.v1" and len(others) == 2
    assert set(others) <= set(registry.load_all("learners"))


def test_shelves_handed_out_are_copies():
    registry.load_all("tokenisations").clear()
    assert registry.load_all("tokenisations")


def test_each_hook_has_its_kind():
    hooks = {
        name.removeprefix("disambig_register_") for name in vars(hookspecs) if name.startswith("disambig_")
    }
    assert hooks == set(registry.KINDS)


# Parts that are imported on first use


LAZY = "@hookimpl\ndef disambig_register_learners(register):\n    register('lazy.B.v1', {place!r})\n"


def test_a_part_is_imported_when_it_is_asked_for(write, load_with):
    write("lazy_plugin", LAZY.format(place="lazy_part:Learner"))
    write("lazy_part", "")
    report = report_of(load_with(lazy="lazy_plugin"), "lazy")
    assert (report.error, report.registered) == (None, (("learners", "lazy.B.v1"),))
    assert "lazy.B.v1" in registry.entries("learners")
    resolve({"tokens": {"@disambig_tokenisations": "disambig.words.v1"}})
    assert "lazy_part" not in sys.modules
    learner = resolve({"learner": {"@disambig_learners": "lazy.B.v1", "C": 3.0}})["learner"]
    assert learner.C == 3.0 and "lazy_part" in sys.modules


def test_places_beside_the_plugins_own_module(tmp_path, write, load_with):
    package = tmp_path / "lazy_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "plugin.py").write_text(HEAD + LAZY.format(place=".parts:Learner"), encoding="utf8")
    (package / "parts.py").write_text(HEAD, encoding="utf8")
    assert report_of(load_with(lazy="lazy_package.plugin"), "lazy").error is None
    assert registry.get("learners", "lazy.B.v1").__module__ == "lazy_package.parts"


MISSING = {
    "no_such_module_at_all:Learner": "ModuleNotFoundError",
    "lazy_part:Lerner": "AttributeError",
    "lazy_part:C": "is not a class or function but int",
}


@pytest.mark.parametrize("place", MISSING)
def test_a_part_that_cannot_be_imported_is_named_when_asked_for(place, write, load_with, monkeypatch, caplog):
    write("lazy_part", "C = 3")
    write("lazy_plugin", LAZY.format(place=place))
    write("good_plugin", brings("good.Learner.v1"))
    report = report_of(load_with(lazy="lazy_plugin", good="good_plugin"), "lazy")
    assert report.error is None
    assert MISSING[place] in report.broken_entries()["lazy.B.v1"]
    with pytest.raises(UserError, match=r"D007.*'lazy.B.v1' of plugin 'lazy'"):
        registry.get("learners", "lazy.B.v1")
    learners = registry.load_all("learners")
    assert "good.Learner.v1" in learners and "lazy.B.v1" not in learners
    assert "lazy.B.v1" in caplog.text
    monkeypatch.setenv("DISAMBIG_STRICT_PLUGINS", "1")
    with pytest.raises(UserError, match=r"D002.*'lazy'.*D007"):
        load_with(lazy="lazy_plugin")


ODD = {
    "nothing": ("", "registers nothing"),
    "hooks without parts": ("@hookimpl\ndef disambig_register_learners(register): pass", "registers nothing"),
}


@pytest.mark.parametrize("how", ODD)
def test_what_is_odd_about_a_plugin_is_a_warning(how, write, load_with, caplog):
    code, seen = ODD[how]
    write("odd_plugin", code)
    report = report_of(load_with(odd="odd_plugin"), "odd")
    assert (report.error, report.warning) == (None, seen)
    assert seen in caplog.text
    for other in plugins.load_plugins():
        assert other.name == "odd" or other.warning is None


@pytest.mark.parametrize("others", ["", "from good_plugin import disambig_register_tasks\n"])
def test_a_function_without_its_mark_is_an_error(others, write, load_with):
    """Nothing of the plugin is registered, whatever else it has: it would be there in part only."""
    write("good_plugin", "@hookimpl\ndef disambig_register_tasks(register): register('odd.T.v1', Learner)")
    write("odd_plugin", others + "def disambig_register_learners(register): register('odd.B.v1', Learner)")
    report = report_of(load_with(odd="odd_plugin"), "odd")
    assert report.error is not None and not report.registered
    assert report.error.startswith("[D015] did you forget @hookimpl on disambig_register_learners?")
    assert not {"odd.B.v1", "odd.T.v1"} & {*registry.entries("learners"), *registry.entries("tasks")}
