"""The registry of entries and its plugins; the public API."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from itertools import permutations
from pathlib import Path

import pytest

from disambig import api, hookspecs, registry
from disambig.config import resolve
from disambig.errors import UserError
from disambig.lazy_names import RENAMED, parse_lazy_names
from disambig.registry import Namespaces, sort_entry_points

HEAD = """
from disambig.hookspecs import hookimpl
class Learner:
    def __init__(self, *, C=1.0): self.C = C
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module that can only be imported in this test."""
    monkeypatch.syspath_prepend(tmp_path)
    module_names = []

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(HEAD + textwrap.dedent(code), encoding="utf8")
        module_names.append(name)

    yield write
    for name in module_names:
        sys.modules.pop(name, None)


def registers(*names, hook="learners"):
    lines = "".join(f"\n    register({name!r}, Learner)" for name in names)
    return f"@hookimpl\ndef disambig_register_{hook}(register):{lines}\n"


def get_report(reports, name):
    (result,) = [report for report in reports if report.name == name]
    return result


def test_loads_and_names_a_plugin(write, load_with):
    write("good_plugin", registers("good.Learner.v1", "good.Learner.v2"))
    report = get_report(load_with(good="good_plugin"), "good")
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
    "in a hook": ("@hookimpl\ndef disambig_register_learners(register): raise KeyError('x')", "KeyError"),
    "no name": (registers("Learner"), "[D004]"),
    "no version": (registers("good.Learner"), "[D004]"),
    "no text": (registers(5), "[D004] invalid name 5"),
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


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_does_not_affect_others(case, write, load_with):
    code, expected = BROKEN[case]
    write("broken_plugin", code)
    write("good_plugin", registers("good.Learner.v1"))
    before = set(registry.load_all("learners"))
    reports = load_with(broken="broken_plugin", good="good_plugin")
    broken = get_report(reports, "broken")
    assert expected in (broken.error or "")
    assert broken.registered == ()
    assert get_report(reports, "good").error is None
    assert set(registry.load_all("learners")) == before | {"good.Learner.v1"}


def test_reports_a_missing_module(load_with):
    report = get_report(load_with(ghost="no_such_module_anywhere"), "ghost")
    assert "no_such_module_anywhere" in (report.error or "")


def test_a_name_conflict_rejects_the_whole_plugin(write, load_with):
    write("a_plugin", registers("same.table1.v1", hook="experiments"))
    b = registers("b.Learner.v1") + registers("same.table1.v1", hook="experiments")
    write("b_plugin", b)
    write("c_plugin", registers("c.Learner.v1", "c.Learner.v1"))
    reports = load_with(c="c_plugin", b="b_plugin", a="a_plugin")
    assert get_report(reports, "a").error is None
    error = get_report(reports, "b").error or ""
    assert (
        "[D006] plugin 'b' cannot register 'same.table1.v1': the prefix 'same' belongs to a_plugin" in error
    )
    error = get_report(reports, "c").error or ""
    assert "[D003] learner 'c.Learner.v1' is registered twice, both times by c: the plugin c is not" in error
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
    write("good_plugin", registers("good.Learner.v1"))
    monkeypatch.setenv("DISAMBIG_TRACE_PLUGINS", "1")
    with caplog.at_level("INFO", logger="disambig.registry"):
        load_with(good="good_plugin")
    assert "disambig_register_learners" in caplog.text


def test_a_plugin_may_use_the_registry_while_it_loads(write, load_with):
    write("asking_plugin", "from disambig import registry\nseen = registry.load_all('tokenisations')")
    assert get_report(load_with(zz="asking_plugin"), "zz").error is None
    assert "disambig.words.v1" in sys.modules["asking_plugin"].seen


def test_loads_plugins_once():
    assert registry.load_plugins() == registry.load_plugins()
    assert registry.load_plugins()[0].name == "core"
    registry.load_plugins().clear()
    assert registry.load_plugins()


def test_unknown_names_list_the_nearest_first(load_with):
    load_with(toys="toy_plugin")
    with pytest.raises(UserError) as caught:
        registry.get("learners", "toys.Perceptrom.v1")
    assert caught.value.code == "D001"
    nearest, *others = str(caught.value).partition("available: ")[2].partition(" and ")[0].split(", ")
    assert nearest == "toys.Perceptron.v1" and others[0] in registry.load_all("learners")


def test_load_all_returns_a_copy():
    registry.load_all("tokenisations").clear()
    assert registry.load_all("tokenisations")


def test_each_hook_has_a_kind():
    hooks = {
        name.removeprefix("disambig_register_") for name in vars(hookspecs) if name.startswith("disambig_")
    }
    assert hooks == set(registry.KINDS)


# Entries that are imported on first use
LAZY = "@hookimpl\ndef disambig_register_learners(register):\n    register('lazy.B.v1', {place!r})\n"


def test_imports_lazy_entries_on_first_use(write, load_with):
    write("lazy_plugin", LAZY.format(place="lazy_part:Learner"))
    write("lazy_part", "")
    report = get_report(load_with(lazy="lazy_plugin"), "lazy")
    assert (report.error, report.registered) == (None, (("learners", "lazy.B.v1"),))
    assert "lazy.B.v1" in registry.entries("learners")
    resolve({"tokens": {"@disambig_tokenisations": "disambig.words.v1"}})
    assert "lazy_part" not in sys.modules
    learner = resolve({"learner": {"@disambig_learners": "lazy.B.v1", "C": 3.0}})["learner"]
    assert learner.C == 3.0 and "lazy_part" in sys.modules


def test_resolves_relative_paths_of_lazy_entries(tmp_path, write, load_with):
    package = tmp_path / "lazy_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "plugin.py").write_text(HEAD + LAZY.format(place=".parts:Learner"), encoding="utf8")
    (package / "parts.py").write_text(HEAD, encoding="utf8")
    assert get_report(load_with(lazy="lazy_package.plugin"), "lazy").error is None
    assert registry.get("learners", "lazy.B.v1").__module__ == "lazy_package.parts"


MISSING = {
    "no_such_module_at_all:Learner": "ModuleNotFoundError",
    "lazy_part:Lerner": "AttributeError",
    "lazy_part:C": "is not a class or function but int",
}


@pytest.mark.parametrize("place", MISSING)
def test_reports_a_lazy_entry_that_cannot_be_imported(place, write, load_with, monkeypatch, caplog):
    write("lazy_part", "C = 3")
    write("lazy_plugin", LAZY.format(place=place))
    write("good_plugin", registers("good.Learner.v1"))
    report = get_report(load_with(lazy="lazy_plugin", good="good_plugin"), "lazy")
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


EMPTY_HOOK = "@hookimpl\ndef disambig_register_learners(register): pass"


@pytest.mark.parametrize("code", ["", EMPTY_HOOK], ids=["no hook", "an empty hook"])
def test_warns_of_plugins_that_register_nothing(code, write, load_with, caplog):
    write("odd_plugin", code)
    report = get_report(load_with(odd="odd_plugin"), "odd")
    assert (report.error, report.warning) == (None, "registers nothing")
    assert "registers nothing" in caplog.text
    for other in registry.load_plugins():
        assert other.name == "odd" or other.warning is None


@pytest.mark.parametrize("others", ["", "from good_plugin import disambig_register_tasks\n"])
def test_reports_a_hook_without_hookimpl(others, write, load_with):
    """No entry of the plugin is registered, so that it is not loaded in part."""
    write("good_plugin", "@hookimpl\ndef disambig_register_tasks(register): register('odd.T.v1', Learner)")
    write("odd_plugin", others + "def disambig_register_learners(register): register('odd.B.v1', Learner)")
    report = get_report(load_with(odd="odd_plugin"), "odd")
    assert report.error is not None and not report.registered
    assert report.error.startswith("[D015] did you forget @hookimpl on disambig_register_learners?")
    assert not {"odd.B.v1", "odd.T.v1"} & {*registry.entries("learners"), *registry.entries("tasks")}


def test_reports_a_hook_with_another_parameter(write, load_with):
    write("odd_plugin", "@hookimpl\ndef disambig_register_tasks(add): add('odd.T.v1', Learner)")
    report = get_report(load_with(odd="odd_plugin"), "odd")
    assert report.error is not None and not report.registered
    assert report.error.startswith("[D024] a hook takes one parameter, named register: ")
    assert "disambig_register_tasks(add)" in report.error and "\n" not in report.error


@dataclass(frozen=True)
class Dist:
    name: str


def entry(name, dist=None, value=None):
    built = EntryPoint(name, value or f"{name}_module", "disambig")
    vars(built)["dist"] = Dist(dist) if dist else None
    return built


CORE = entry("core", "disambig", "disambig.builtin")
OURS = entry("variance_svm", "disambig")
ANT = entry("ant", "ant-eater")
BEE = entry("bee", "Bee.Keeper")


@pytest.mark.parametrize("entries", list(permutations([CORE, OURS, ANT, BEE])))
def test_order_of_entry_points_does_not_depend_on_installation(entries):
    assert sort_entry_points(entries) == [CORE, OURS, ANT, BEE]


def test_only_disambig_is_the_core():
    false = entry("core", "aaa", "aaa.plugin")
    claims = Namespaces(order := sort_entry_points([false, CORE]))
    assert order == [CORE, false]
    with pytest.raises(UserError, match=r"D008.*from aaa is ignored, since the one from disambig was loaded"):
        claims.check_name(false)
    claims.check_name(CORE)


def test_ignores_duplicate_entry_points():
    again = entry("variance_svm", "zoo", OURS.value)
    for entries in permutations([again, OURS, CORE]):
        assert [item.dist.name for item in sort_entry_points(entries)] == ["disambig", "disambig"]


ALLOWED = [
    (CORE, "tokenisations", "web1t.v1"),
    (CORE, "learners", "disambig.NoPreference.v1"),
    (OURS, "learners", "variance_svm.VarianceSVM.v1"),
    (OURS, "experiments", "bergsma2010.table1.v1"),
    (ANT, "learners", "ant.Learner.v1"),
    (ANT, "learners", "ant_eater.Learner.v1"),
    (BEE, "tasks", "bee_keeper.Hives.v1"),
    (BEE, "experiments", "bee.table1.v1"),
]


@pytest.mark.parametrize(("entry_point", "kind", "name"), ALLOWED)
def test_accepts_names_in_the_namespace_of_a_plugin(entry_point, kind, name):
    Namespaces(sort_entry_points([BEE, ANT, OURS, CORE])).check(entry_point, kind, name)


REFUSED = [
    (ANT, "learners", "bee.Learner.v1", "'bee' belongs to Bee.Keeper; its names must begin with ant."),
    (BEE, "learners", "ant_eater.Learner.v1", "'ant_eater' belongs to ant-eater"),
    (ANT, "learners", "disambig.Learner.v1", "'disambig' belongs to disambig"),
    (BEE, "tokenisations", "web1t.v1", "'web1t' belongs to disambig"),
    (ANT, "learners", "smith2020.Learner.v1", "'smith2020' is not its name"),
    (ANT, "experiments", "bee.table1.v1", "'bee' belongs to Bee.Keeper"),
    (BEE, "experiments", "variance_svm.table1.v1", "'variance_svm' belongs to disambig"),
    (OURS, "learners", "core2.Learner.v1", "'core2' is not its name"),
]


@pytest.mark.parametrize(("entry_point", "kind", "name", "expected"), REFUSED)
def test_rejects_names_in_other_namespaces(entry_point, kind, name, expected):
    with pytest.raises(UserError) as caught:
        Namespaces(sort_entry_points([CORE, OURS, ANT, BEE])).check(entry_point, kind, name)
    assert caught.value.code == "D006"
    assert expected in str(caught.value)


def test_first_plugin_of_a_paper_reserves_its_name():
    claims = Namespaces([CORE, OURS, ANT, BEE])
    claims.check(ANT, "experiments", "smith2020.table1.v1")
    claims.reserve(ANT, ["smith2020.table1.v1"])
    claims.check(ANT, "experiments", "smith2020.table2.v1")
    with pytest.raises(UserError, match=r"D006.*'smith2020' belongs to ant-eater"):
        claims.check(BEE, "experiments", "smith2020.table3.v1")


def test_a_distribution_cannot_take_the_name_of_an_earlier_plugin():
    intruder = entry("zebra", "variance-svm")
    claims = Namespaces(sort_entry_points([intruder, OURS, CORE]))
    with pytest.raises(UserError, match="D006"):
        claims.check(intruder, "learners", "variance_svm.VarianceSVM.v1")
    claims.check(intruder, "learners", "zebra.Learner.v1")
    claims.check(OURS, "learners", "variance_svm.VarianceSVM.v1")


def test_ignores_a_second_plugin_of_the_same_name():
    second = entry("Ant", "zoo")
    claims = Namespaces(sort_entry_points([second, ANT]))
    claims.check_name(ANT)
    with pytest.raises(UserError, match=r"D008.*'Ant'.*from zoo is ignored, since the one from ant-eater"):
        claims.check_name(second)


def test_a_hook_that_raises_is_reported_with_its_line(write, load_with, monkeypatch):
    write(
        "hook_plugin",
        "@hookimpl\ndef disambig_register_learners(register):\n    raise RuntimeError('in the middle')\n",
    )
    place = r"RuntimeError: in the middle \(hook_plugin.py:\d+, in disambig_register_learners\)"
    assert re.search(place, get_report(load_with(hook="hook_plugin"), "hook").error)
    monkeypatch.setenv("DISAMBIG_STRICT_PLUGINS", "1")
    with pytest.raises(UserError, match=f"D002.*{place}"):
        load_with(hook="hook_plugin")


def test_an_import_that_fails_is_reported_with_its_line(write, load_with):
    write("lazy_entries", "def helper():\n    return {}['x']\nhelper()\n")
    write("lazy_plugin", registers("lazy.Learner.v1").replace("Learner)", "'lazy_entries:Learner')"))
    load_with(lazy="lazy_plugin")
    with pytest.raises(UserError, match=r"D007.*KeyError: 'x' \(lazy_entries.py:\d+, in helper\)$"):
        registry.get("learners", "lazy.Learner.v1")


def test_the_error_of_an_entry_is_shown_without_its_class(write, load_with):
    write("ruled_entries", "from disambig.api.tasks import Rule\nRULE = Rule('No name', '')\n")
    write("ruled_plugin", registers("ruled.Learner.v1").replace("Learner)", "'ruled_entries:Learner')"))
    load_with(ruled="ruled_plugin")
    with pytest.raises(UserError) as caught:
        registry.get("learners", "ruled.Learner.v1")
    assert "cannot be imported: a rule: its name is 'No name'; expected" in str(caught.value)
    assert "UserError" not in str(caught.value) and "(ruled_entries.py:" in str(caught.value)


def test_the_name_of_another_kind_is_recognised(load_with):
    remark = r"\('disambig.Tfidf.v1' is an extractor\); see"
    with pytest.raises(UserError, match=f"D001.*unknown learner 'disambig.Tfidf.v1'; available: .* {remark}"):
        registry.get("learners", "disambig.Tfidf.v1")
    with pytest.raises(UserError, match="D001") as caught:
        registry.get("learners", "disambig.Nothing.v1")
    assert "('disambig.Nothing.v1' is" not in str(caught.value) and "is installed" not in str(caught.value)
    with pytest.raises(UserError, match="D001") as caught:
        registry.get("learners", "amounts.Learner.v1")
    assert "(no installed plugin has names that begin with 'amounts.'); see" in str(caught.value)


def test_the_name_of_a_plugin_that_could_not_be_loaded_is_recognised(write, load_with):
    write("broken_plugin", "1 / 0")
    load_with(broken="broken_plugin")
    with pytest.raises(UserError, match=r"D001.*\(the plugin 'broken' could not be loaded\); see"):
        registry.get("learners", "broken.Learner.v1")


def test_a_plugin_cannot_be_called_as_the_core():
    intruder = entry("disambig", "elsewhere")
    with pytest.raises(
        UserError, match=r"D006.*'disambig' belongs to disambig; its names must begin with elsewhere\."
    ):
        Namespaces([CORE, intruder]).check(intruder, "learners", "disambig.Learner.v1")


READERS = {
    "suffixes = '.rows'": "its suffixes are '.rows', not a tuple of texts",
    "suffixes = ('rows',)": "its suffix 'rows' does not begin with a dot",
    "suffixes = ()": "neither suffixes nor elements",
    "suffixes = ('.rows',); read = None": "it has no method 'read'",
}


@pytest.mark.parametrize("traits", READERS)
def test_readers_that_would_never_read_a_file_are_errors(traits, write, load_with):
    code = f"class Reader:\n    def read(self, source): return []\n    {traits}\n"
    code += "@hookimpl\ndef disambig_register_readers(register):\n    register('rows.Reader.v1', Reader)\n"
    write("rows_plugin", code)
    report = get_report(load_with(rows="rows_plugin"), "rows")
    assert READERS[traits] in report.broken_entries()["rows.Reader.v1"]
    assert "rows.Reader.v1" not in registry.load_all("readers")


def test_components_are_called_by_their_registered_names(load_with):
    load_with()
    assert registry.describe_component("judges", 3) == "the decision rule int"
    words = registry.get("tokenisations", "disambig.words.v1")
    assert (
        registry.describe_component("tokenisations", words)
        == "the tokenisation disambig.words.v1 of the plugin core"
    )


ROOT = Path(__file__).parents[3]
MODULES = ["disambig.api", *(f"disambig.api.{module_name}" for module_name in api.SUBMODULES)]
NAMES = [(module, name) for module in MODULES for name in import_module(module).__all__]
README = ROOT / "plugins" / "README.md"


@pytest.mark.parametrize("module", MODULES)
def test_every_name_exists(module):
    result = import_module(module)
    assert dir(result) == result.__all__ == sorted(result.__all__)
    for name in result.__all__:
        assert getattr(result, name) is not None
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Nothing'"):
        _ = result.Nothing
    assert not hasattr(result, "_load_model")


def test_submodules_are_the_modules_of_the_folder():
    folder = Path(api.__file__).parent
    assert list(api.SUBMODULES) == sorted(path.stem for path in folder.glob("[!_]*.py"))


def test_names_of_the_package_are_not_repeated_in_submodules():
    assert not [name for module, name in NAMES if module != "disambig.api" and name in api.__all__]


def test_submodules_are_attributes():
    """Plugins that were written before the submodules existed still work."""
    from disambig.api.batches import segments
    from disambig.api.decoding import Chain

    assert Chain is api.decoding.Chain
    assert segments is api.batches.segments


def test_parses_homes_of_lazy_names():
    lines = ("from a.b import c as _d", "from a import e as e", "d = _d")
    text = "".join(["if TYPE_CHECKING:\n", *(f"    {line}\n" for line in lines), "else:\n    x = 3\n"])
    homes = parse_lazy_names(text)
    assert homes == {"_d": ("a.b", "c"), "e": ("a", "e"), "d": ("a.b", "c")}
    with pytest.raises(ValueError, match="line 2"):
        parse_lazy_names("if TYPE_CHECKING:\n    x: int = 3\n")


WRONG = """
from disambig.api import load_modell
from disambig.api.batches import Nothing
from disambig.api import DenseBlocks
DenseBlocks(nothing=1)
"""


@pytest.fixture(scope="module")
def mypy_output(tmp_path_factory):
    """Run mypy on a module that reveals the type of each name, and on one with errors."""
    folder = tmp_path_factory.mktemp("checked")
    lines = [f"import {module}" for module in MODULES]
    lines += [f"reveal_type({module}.{name})" for module, name in NAMES]
    (folder / "every_name.py").write_text("\n".join(lines) + "\n")
    (folder / "wrong.py").write_text(WRONG)
    files = [str(folder / name) for name in ("every_name.py", "wrong.py")]
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout


@pytest.mark.slow
def test_every_name_has_a_type(mypy_output):
    revealed = re.findall(r'every_name\.py:(\d+): note: Revealed type is "(.*)"', mypy_output)
    assert len(revealed) == len(NAMES), mypy_output
    types = {NAMES[int(line) - len(MODULES) - 1]: kind for line, kind in revealed}
    untyped = [name for name, kind in types.items() if kind == "Any"]
    assert not untyped
    assert types["disambig.api", "load_model"].startswith("def (name_or_path: ")
    assert types["disambig.api", "DenseBlocks"].startswith("def (")
    assert types["disambig.api.training", "save_model"].startswith("def (model: ")
    assert not re.findall(r"every_name\.py:\d+: error: .*", mypy_output)


@pytest.mark.slow
def test_mypy_reports_wrong_names(mypy_output):
    errors = [line for line in mypy_output.splitlines() if "wrong.py" in line and "error" in line]
    assert [re.findall(r"\[([a-z-]+)\]$", line)[0] for line in errors] == ["attr-defined"] * 2 + ["call-arg"]
    assert '"load_modell"' in errors[0] and '"Nothing"' in errors[1]


def reference():
    """Return the tables of the reference: descriptions by name, and names by submodule."""
    text = README.read_text(encoding="utf8").partition("\n## Reference\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|$", text, re.M)
    authors = {first.strip("`"): second for first, second in rows if not first.startswith("`disambig.api")}
    modules = {first.strip("`"): set(re.findall(r"`(\w+)`", second)) for first, second in rows}
    return authors, {
        module_name: names for module_name, names in modules.items() if module_name.startswith("disambig.api")
    }


def test_reference_describes_every_name():
    authors, _ = reference()
    assert sorted(authors) == api.__all__
    for name, sentence in authors.items():
        assert re.fullmatch(r"[A-Z`].{10,}\.", sentence), name
    assert len(authors) < 50


def test_reference_lists_every_name_of_submodules():
    _, modules = reference()
    assert modules == {module: set(import_module(module).__all__) for module in MODULES[1:]}


@pytest.mark.parametrize("module", RENAMED)
def test_renamed_names_work_and_warn(module):
    for old, new in RENAMED[module].items():
        with pytest.warns(DeprecationWarning, match=f"{module}.{old} is now called {new}"):
            assert getattr(import_module(module), old) is getattr(import_module(module), new)
        assert old not in import_module(module).__all__
