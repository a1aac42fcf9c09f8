"""Rules of the code: layers and imports, fast start, messages, registered names."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from disambig import api, registry
from disambig.errors import MESSAGES, UserError

ROOT = Path(__file__).parents[1]
CORE = sorted((ROOT / "disambig").rglob("*.py"))
PLUGINS = sorted((ROOT / "plugins").rglob("*.py"))
LIBRARY = [*CORE, *PLUGINS]
EVERYTHING = sorted(chain(LIBRARY, *((ROOT / name).rglob("*.py") for name in ("tests", "corpora"))))
PLUGIN_NAMES = {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()}
PACK_NAMES = {path.name for path in (ROOT / "corpora").iterdir() if path.is_dir()}
HEAVY = ("spacy", "sklearn", "numba", "scipy", "cvxpy", "pandas")
SNAPSHOT = Path(__file__).parent / "registered_names.json"


@cache
def parse_file(path):
    return ast.parse(path.read_text(encoding="utf8"))


@cache
def syntax_nodes(path):
    """Return all nodes of a module; several tests look at them."""
    return tuple(ast.walk(parse_file(path)))


def where(path, node=None):
    return f"{path.relative_to(ROOT)}:{node.lineno if node else 1}"


def imports(path, *, top_only=False):
    """Yield (module, node) of every import; relative ones have a leading dot."""
    for node in top_level(parse_file(path)) if top_only else syntax_nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node
            if not node.level:
                yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def top_level(tree):
    """Yield the statements that run at import: not those in functions, nor under TYPE_CHECKING."""
    for node in tree.body:
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from node.body + node.orelse
        elif isinstance(node, ast.Try):
            yield from node.body
        else:
            yield node


def package(module):
    return module.partition(".")[0]


def is_api(module):
    return module == "disambig.api" or module in {f"disambig.api.{name}" for name in api.SUBMODULES}


def test_the_core_imports_no_plugin_and_no_pack():
    trees = [
        f"{where(path, node)}: {module}"
        for path in CORE
        for module, node in imports(path)
        if package(module) in PLUGIN_NAMES | PACK_NAMES
    ]
    assert not trees, trees


def test_the_core_does_not_use_the_rules_of_english():
    """They are for plugins: the core only passes them on, and lists the shared rules by their names."""
    names = re.findall(
        r"(\w+) as",
        (ROOT / "disambig" / "rules" / "__init__.pyi").read_text("utf8").partition("from .english")[2],
    )
    assert "english_rule" in names
    violations = [
        f"{where(path, node)}: {module}"
        for path in CORE
        if path.parts[-2] != "rules" and "api" not in path.parts
        for module, node in imports(path)
        if module.startswith("disambig.rules") and module.rpartition(".")[2] in ("english", *names)
    ]
    assert not violations, violations


def test_the_core_does_not_name_entries_of_plugins():
    """The core also names no module of a plugin or pack; only messages may do so as examples."""
    names = "|".join(name.removeprefix("disambig_") for name in PLUGIN_NAMES)
    entry = re.compile(rf"(?:{names})\.[A-Z]\w*\.v\d+|(?:{'|'.join(PLUGIN_NAMES)})\b")
    violations = []
    for path in CORE:
        texts = set(map(id, docstrings(path)))
        for node in syntax_nodes(path):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in texts:
                continue
            if entry.search(node.value) and path.name != "messages.py":
                violations.append(f"{where(path, node)}: {node.value!r}")
    assert not violations, violations


def docstrings(path):
    """Yield the constants that are docstrings, of attributes as well."""
    for node in syntax_nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def test_plugins_import_only_the_api_of_the_core_and_not_each_other():
    violations = []
    for path in PLUGINS:
        plugin = path.relative_to(ROOT / "plugins").parts[0]
        for node in syntax_nodes(path):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module]
            else:
                continue
            for module in modules:
                foreign = package(module) in PLUGIN_NAMES - {plugin} or package(module) in PACK_NAMES
                if foreign or (package(module) == "disambig" and not is_api(module)):
                    violations.append(f"{where(path, node)}: {module}")
    assert not violations, violations


def may_import(path):
    """Return the heavy packages that a module may import at its top."""
    if path.name == "jit.py":
        return ("numba",)
    if path.parent.name == "spacy":  # other modules import this package only inside functions
        return ("spacy",)
    if path.name == "components.py" and "plugins" in path.parts:  # only spaCy imports it, by an entry point
        return ("spacy",)
    if path.name == "estimator.py":  # a scikit-learn class, imported by users and by no other module
        return ("sklearn",)
    return ()


def test_nothing_heavy_is_imported_with_a_module():
    trees = [
        f"{where(path, node)}: {module}"
        for path in LIBRARY
        for module, node in imports(path, top_only=True)
        if (package(module) in HEAVY and package(module) not in may_import(path))
        or (module.startswith("disambig.spacy") and path.parent.name != "spacy")
    ]
    assert not trees, trees


def test_kernels_are_imported_by_kernels_only_or_inside_functions():
    violations = []
    for path in LIBRARY:
        is_kernel = path.stem == "kernels" or path.stem.endswith("_kernels")
        for module, node in imports(path, top_only=True):
            name = module.rpartition(".")[2]
            compiling = module.startswith("disambig.jit")
            if (compiling or name == "kernels" or name.endswith("_kernels")) and not is_kernel:
                violations.append(f"{where(path, node)}: {module}")
    assert not violations, violations


def test_nothing_is_executed_or_unpickled():
    modules = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "imp"}
    violations = []
    for path in LIBRARY:
        violations += [where(path, node) for module, node in imports(path) if package(module) in modules]
        for node in syntax_nodes(path):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                unsafe = any(
                    keyword.arg == "allow_pickle" and not isinstance_false(keyword.value)
                    for keyword in node.keywords
                )
                if name in ("eval", "exec", "compile", "__import__") or unsafe:
                    violations.append(where(path, node))
    assert not violations, violations


def isinstance_false(node):
    return isinstance(node, ast.Constant) and node.value is False


def test_the_library_does_not_print():
    trees = [
        where(path, node)
        for path in LIBRARY
        if path.parent.name != "cli"
        for node in syntax_nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not trees, trees


LAYERS = (
    ("errors", "messages", "lazy_names", "formatting", "type_aliases"),
    ("runtime", "jit", "files"),
    ("hookspecs", "registry", "packs", "settings"),
    ("config",),
    ("text", "markup", "rules"),
    ("data",),
    ("types",),
    ("counts", "language_models", "decode"),
    ("metrics",),
    ("features", "tasks", "decision"),
    ("formats",),
    ("models",),
    ("training", "explain"),
    ("evaluation", "experiments"),
    ("jobs",),
    ("configuration",),
    ("checking",),
    ("mining",),
    ("server", "lsp", "spacy"),
    ("doctor", "testing", "scaffold"),
    ("cli",),
    ("api", "builtin", "__main__"),
)
"""Packages and modules of the core, the lowest first: a layer imports itself and what is below."""
NAMED_IN_TYPES = {("text", "types"), ("data", "types"), ("registry", "types"), ("config", "types")}
"""Lower layers name the protocols in annotations."""
IMPORTED_IN_FUNCTIONS = {("text", "models"), ("formats", "spacy")}
"""Tags come from a model, and `.spacy` files have the layout of the components."""


def internal_imports(path):
    """Yield the modules of the core that a module imports, and whether it does so at its top level."""
    top = {id(node) for node in top_level(parse_file(path))}
    for node in syntax_nodes(path):
        if (
            not isinstance(node, ast.ImportFrom)
            or node.level
            or not (node.module or "").startswith("disambig")
        ):
            continue
        for alias in node.names:
            module = f"{node.module}.{alias.name}"
            yield (module if module in MODULES else node.module), id(node) in top


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in CORE}


def test_progress_is_reported_to_a_function_not_to_none():
    """A function that reports progress has `no_progress` as its default, and calls it without asking."""
    violations = []
    for path in LIBRARY:
        for node in syntax_nodes(path):
            if not isinstance(node, ast.FunctionDef):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            defaults = [None] * (len(arguments) - len(node.args.defaults) - len(node.args.kwonlyargs))
            defaults += [*node.args.defaults, *node.args.kw_defaults]
            for argument, default in zip(arguments, defaults, strict=True):
                is_none = isinstance(default, ast.Constant) and default.value is None
                if argument.arg in ("progress", "report_progress") and is_none:
                    violations.append(where(path, node))
    assert not violations, violations


def test_imports_follow_the_order_of_the_layers():
    rank = {name: number for number, names in enumerate(LAYERS) for name in names}
    wrong = []
    for name, path in MODULES.items():
        for module, _ in internal_imports(path):
            if "." not in module or "." not in name:
                continue
            here, there = name.split(".")[1], module.split(".")[1]
            if rank[here] < rank[there] and (here, there) not in NAMED_IN_TYPES | IMPORTED_IN_FUNCTIONS:
                wrong.append(f"{name} -> {module}")
    assert not wrong, wrong


def test_no_import_cycle():
    """Module-level imports have no cycle; a name from a package counts as an import of its module."""
    homes = {
        (package, alias.name): f"{package}.{node.module}"
        for package, path in MODULES.items()
        if (stub := path.with_suffix(".pyi")).exists()
        for node in parse_file(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    graph = {name: set() for name in MODULES}
    for name, path in MODULES.items():
        for node in top_level(parse_file(path)):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module in MODULES:
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    home = homes.get((node.module, alias.name), node.module)
                    graph[name].add(submodule if submodule in MODULES else home)
    cycles, done = [], set()

    def visit(name, trail):
        if name in trail:
            cycles.append(trail[trail.index(name) :])
        elif name not in done:
            for other in graph[name]:
                visit(other, [*trail, name])
            done.add(name)

    for name in graph:
        visit(name, [])
    assert not cycles, cycles


def test_file_names_are_specific():
    names = {"util.py", "utils.py", "helpers.py", "common.py", "misc.py"}
    assert not [path for path in EVERYTHING if path.name in names]


def test_public_class_names_are_unique():
    """A name with two meanings would have to be looked up each time."""
    homes = {}
    for path in sorted([*LIBRARY, *(ROOT / "corpora").rglob("*.py")]):
        for node in parse_file(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(where(path, node))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice, twice


def test_every_module_has_a_docstring():
    silent = [where(path) for path in LIBRARY if not ast.get_docstring(parse_file(path))]
    assert not silent, silent


def test_no_other_files_at_the_top_level():
    allowed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "action.yml"}
    files = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files <= allowed


def test_no_path_of_a_machine():
    pattern = re.compile("/(?:home|Users|work|root)/")
    violations = [where(path) for path in LIBRARY if pattern.search(path.read_text(encoding="utf8"))]
    assert not violations, violations


def test_tests_import_their_helpers_by_module_name():
    """A package `tests` does not exist if only the distribution is installed, as in CI."""
    pattern = re.compile(r"^\s*(?:from|import) tests\b", re.MULTILINE)
    wrong = [path.name for path in (ROOT / "tests").rglob("*.py") if pattern.search(path.read_text("utf8"))]
    assert not wrong, wrong


# Messages


def raised_codes():
    pattern = re.compile(r"[\"'](D\d{3})[\"']")
    return {
        code
        for path in LIBRARY
        if path.name != "messages.py"
        for code in pattern.findall(path.read_text(encoding="utf8"))
    }


def test_every_message_is_raised_and_every_raised_code_has_a_message():
    assert raised_codes() | {"D023"} == set(MESSAGES)  # D023 is for plugins outside this repository


def test_messages_are_in_order_and_of_one_line():
    assert list(MESSAGES) == sorted(MESSAGES)
    for code, message in MESSAGES.items():
        assert re.fullmatch(r"D\d{3}", code)
        assert "\n" not in message
        assert not message.endswith("."), code


def test_errors_fill_the_fields_of_their_messages():
    """Each ``UserError("D...", a=..., b=...)`` fills exactly the fields of its message."""
    violations = []
    for path in LIBRARY:
        for node in syntax_nodes(path):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UserError" and node.args):
                continue
            code = node.args[0]
            given = {keyword.arg for keyword in node.keywords}
            if not isinstance(code, ast.Constant) or None in given:
                continue
            fields = set(re.findall(r"\{(\w+)[^}]*\}", MESSAGES[code.value]))
            if fields - given:
                violations.append(f"{where(path, node)}: {code.value} lacks {sorted(fields - given)}")
    assert not violations, violations


# Registered names, and imports at start


def test_registered_names_equal_the_snapshot():
    """Registered names are kept: changed behaviour gets a new version of the name."""
    names = {kind: sorted(registry.load_all(kind)) for kind in registry.KINDS}
    assert names == json.loads(SNAPSHOT.read_text(encoding="utf8"))


LIGHT = {  # in this order, in one process
    "disambig": "import disambig",
    "api": "import disambig.api as a\nfor n in a.__all__: n.endswith('_factory') or getattr(a, n)",
    "submodules of the api": "import disambig.api as a\nfor m in a.SUBMODULES:\n"
    " for n in getattr(a, m).__all__:\n  m in ('components', 'kernels') or getattr(getattr(a, m), n)",
    "registry": "from disambig import registry; [registry.load_all(kind) for kind in registry.KINDS]",
    "start": "from disambig.registry import load_plugins; load_plugins()",
    "testing": "import disambig.testing",
    "help": "import disambig.cli.main as main\ntry: main.run(['--help'])\nexcept SystemExit: pass",
    "plugins": "import disambig.cli.main as main\ntry: main.run(['plugins'])\nexcept SystemExit: pass",
}


def test_nothing_heavy_is_loaded():
    report = "sys.stderr.write({!r} + str([name for name in {!r} if name in sys.modules]) + chr(10))"
    code = "\n".join(f"{code}\nimport sys\n{report.format(what, HEAVY)}" for what, code in LIGHT.items())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{what}[]" for what in LIGHT]


IN_OTHER_PROCESSES = (  # these start processes that load the plugins and the installed models
    "unit/cli/test_command_line.py::test_commands_refuse_invalid_rates",
    "unit/cli/test_command_line.py::test_one_rate_is_shared_among_models",
)
CORE_TESTS = ("unit/core/test_config.py", "unit/core/test_registry.py")
SLOW_CORE_TESTS = (  # packages that use registered entries
    "unit/data",
    "contracts",
    "unit/models",
    "unit/features",
    "unit/training",
    "unit/counts/test_counts_command.py",
    "unit/cli",
    "unit/server",
)


@pytest.mark.parametrize(
    "folders",
    [CORE_TESTS, pytest.param(SLOW_CORE_TESTS, marks=pytest.mark.slow)],
    ids=["core", "other packages"],
)
def test_the_tests_of_the_core_pass_without_any_plugin(folders):
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-n0", "-qx", "-p", "no_plugins", "-p", "no:cacheprovider"]
    command += ["--assert=plain", *(f"--deselect=tests/{test}" for test in IN_OTHER_PROCESSES)]
    done = subprocess.run(
        [*command, *(str(tests / folder) for folder in folders)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "DISAMBIG_TEST_EXAMPLES": "few"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


# Names of imports


OWN = {"disambig", *PLUGIN_NAMES, *PACK_NAMES}


def imported_names():
    """Yield place, module and name of every import of our own packages; the name is None for ``import x``."""
    for path in EVERYTHING:
        for node in syntax_nodes(path):
            if isinstance(node, ast.ImportFrom) and not node.level and package(node.module) in OWN:
                yield from ((where(path, node), node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                names = (alias.name for alias in node.names if package(alias.name) in OWN)
                yield from ((where(path, node), name, None) for name in names)


@cache
def problem_of_import(module, name):
    """Return what is wrong with an import; "" if nothing is, or if only a package of others is missing."""
    try:
        if name is not None and not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")
        elif name is None:
            importlib.import_module(module)
    except ImportError as problem:
        return f"{module} {name}: {problem}" if package(problem.name or module) in OWN else ""
    except UserError:
        return ""  # an extra that is not installed
    return ""


def test_every_imported_name_exists():
    """Build scripts, benchmarks and slow tests run rarely: nothing else would notice that a name is gone."""
    problems = ((place, problem_of_import(module, name)) for place, module, name in imported_names())
    missing = [f"{place} {problem}" for place, problem in problems if problem]
    assert not missing, missing
