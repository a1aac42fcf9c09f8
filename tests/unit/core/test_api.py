"""The API for plugins: every name exists, has a type, and is in the reference."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from disambig import api
from disambig.api._renamed import RENAMED
from disambig.lazy_names import parse_lazy_names

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
