"""Plugins as packages, `disambig new-plugin`, and `disambig doctor` on damaged installations."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from commands import here
from readme_blocks import install

import disambig
from disambig.scaffold import write_plugin

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from disambig.cli.main import run; run()"]


def run(command, *, path=(), **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DISAMBIG_")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
    environment["DISAMBIG_ENGINE"] = "numpy"
    return subprocess.run(
        [*map(str, command)],
        cwd=os.path.abspath(os.sep),  # not the checkout: `python -c` imports from where it stands
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def distribution(home, name, version, code, *entries):
    """Lay a distribution into `home` as an installer would: a module, and what importlib.metadata reads."""
    (home / f"{name}.py").write_text(textwrap.dedent(code))
    info = home / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[disambig]\n" + "".join(f"{entry}\n" for entry in entries))


GOOD = """
from disambig.api import hookimpl

@hookimpl
def disambig_register_learners(register):
    register("good.Learner.v1", dict)
"""


@pytest.fixture
def strangers(tmp_path):
    """Foreign distributions: one works, the others are broken in their own ways."""
    distribution(tmp_path, "good", "1.0", GOOD, "good = good")
    distribution(tmp_path, "raises", "2.0", "raise ImportError('libsomething is missing')", "raises = raises")
    wrong = GOOD.replace("register_learners", "register_lerners")
    distribution(tmp_path, "misspelt", "3.0", wrong, "misspelt = misspelt")
    distribution(tmp_path, "thief", "4.0", GOOD, "a_thief = thief")
    distribution(tmp_path, "twin", "5.0", GOOD, "good = twin")
    hollow = GOOD.replace("dict", "'no_such_module:Learner'").replace("good.", "hollow.")
    distribution(tmp_path, "hollow", "6.0", hollow, "hollow = hollow")
    distribution(tmp_path, "needs", "8.0", "import no_such_package.inside", "my-needs = needs")
    distribution(tmp_path, "idle", "7.0", GOOD.replace("@hookimpl", ""), "idle = idle")
    return tmp_path


def test_broken_plugins_are_reported_and_stop_nothing(strangers):
    done = run([*COMMAND, "plugins"], path=[strangers])
    assert done.returncode == 1
    assert done.stderr == ""
    blocks = {" ".join(block.split()[:2]): block for block in done.stdout.replace("\n  ", "\t").splitlines()}
    twin = blocks.pop("good twin")
    blocks = {name.split()[0]: block for name, block in blocks.items()}
    assert "raises 2.0" in blocks["raises"]
    assert "BROKEN: ImportError: libsomething is missing" in blocks["raises"]
    assert "BROKEN" in blocks["misspelt"]
    assert "disambig_register_lerners" in blocks["misspelt"]
    assert "did you mean disambig_register_learners?" in blocks["misspelt"]
    assert "[D006] plugin 'a_thief' cannot register 'good.Learner.v1'" in blocks["a_thief"]
    assert "[D008] two plugins are called 'good': the one from twin is ignored" in twin
    assert "learner: hollow.Learner.v1\t  BROKEN: [D007]" in blocks["hollow"]
    missing = "No module named 'no_such_package' (needs.py:1, in <module>); install no_such_package, which it"
    assert missing in blocks["my-needs"]
    assert "BROKEN: [D015] did you forget @hookimpl on disambig_register_learners?" in blocks["idle"]
    assert "learner: good.Learner.v1" in blocks["good"]
    for name in ("core", "variance_svm", "good"):
        assert "BROKEN" not in blocks[name]


@pytest.mark.parametrize("name", ["my-needs", "my_needs", "needs"])
def test_a_plugin_is_shown_by_its_entry_point_prefix_or_distribution(strangers, name):
    done = run([*COMMAND, "plugins", name], path=[strangers])
    assert done.returncode == 1 and done.stdout.startswith("my-needs  needs 8.0  (needs)\n")


def test_the_list_as_json(strangers):
    done = run([*COMMAND, "plugins", "--json"], path=[strangers])
    assert done.returncode == 1
    reports = {report["distribution"]: report for report in json.loads(done.stdout)}
    assert reports["good"]["error"] is None
    assert reports["hollow"]["error"] is None
    assert "no_such_module" in reports["hollow"]["broken"]["hollow.Learner.v1"]
    assert reports["raises"] | {"error": ""} == {
        "name": "raises",
        "distribution": "raises",
        "version": "2.0",
        "module": "raises",
        "error": "",
        "registered": [],
        "warning": None,
        "broken": {},
    }


def test_other_commands_work_beside_a_broken_plugin(strangers):
    text = "from disambig.registry import get; print(get('learners', 'good.Learner.v1'))"
    done = run([sys.executable, "-c", text], path=[strangers])
    assert done.stdout == "<class 'dict'>\n"
    assert "plugin 'raises' (raises 2.0) could not be loaded: ImportError" in done.stderr  # a warning
    assert run([*COMMAND, "--help"], path=[strangers]).returncode == 0


def test_strict_loading_is_one_line_and_status_2(strangers):
    done = run([*COMMAND, "plugins"], path=[strangers], DISAMBIG_STRICT_PLUGINS="1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("disambig: [D002] plugin ")
    assert done.stderr.count("\n") == 1


PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "{version}"

[project.entry-points.disambig]
{entry}

[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""


def build_and_install(site, source, *, name, version, entry):
    """Build the package folder `source` as a distribution of its own, and install it into `site`."""
    work = site.parent / f"src-{name}"
    shutil.copytree(source, work / source.name, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    text = PYPROJECT.format(name=name, version=version, entry=entry, package=source.name)
    (work / "pyproject.toml").write_text(text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = run([*pip, "--no-deps", "--no-build-isolation", "--no-index", "--target", site, work])
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """Make an environment with the core and its requirements, but without our plugins and packs.

    The requirements come from this environment by links: all that is installed in it but ourselves,
    and without .pth files, so neither an ordinary nor an editable installation of ours is seen.
    """
    pytest.importorskip("hatchling")
    home = tmp_path_factory.mktemp("clean")
    done = run([sys.executable, "-m", "venv", "--without-pip", home / "env"])
    assert done.returncode == 0, done.stderr
    python = home / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run([python, "-c", options]).stdout.strip())
    requirements = home / "requirements"
    requirements.mkdir()
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(folder).iterdir():
            if not entry.name.startswith("disambig") and entry.suffix != ".pth":
                (requirements / entry.name).symlink_to(entry)
    (site / "requirements.pth").write_text(f"{requirements}\n")
    core = {"name": "disambig", "version": disambig.__version__, "entry": 'core = "disambig.builtin"'}
    build_and_install(site, ROOT / "disambig", **core)
    return python, site


USE = """
import sys
from disambig.config import resolve
from disambig.counts.build import build_table
from disambig.models.storage import load_model, save_model
from disambig.text.tokenisations import Words
from disambig.training.trainer import train

texts = [
    "It was quite good. The room is quiet now. She is quite sure.",
    "A quiet place is nice. He is quite happy. Keep quiet now, please.",
] * 6
build_table("toy.counts", texts, Words())
config = {
    "task": {"@disambig_tasks": "variance_svm.Spelling.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {"ngrams": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": "toy.counts"}},
    "learner": {"@disambig_learners": "variance_svm.VarianceSVM.v1", "C": 0.01},
    "baseline": {"@disambig_learners": "variance_svm.SumLM.v1"},
}
model = train(resolve(config), {"train": texts, "dev": texts}, name="toy", config=config, min_examples=5)
save_model(model, "model")
text = "The room is quite now."
decisions = load_model("model").decide(Words()([text]))
record = decisions.record(0, text)
import disambig_variance_svm
sys.stdout.write("|".join([record["observed"], record["chosen"], disambig_variance_svm.__file__]))
"""


@pytest.mark.slow
def test_a_plugin_folder_works_as_a_distribution_of_its_own(clean, tmp_path):
    python, site = clean
    command = [python, "-c", "from disambig.cli.main import run; run()"]
    before = run([*command, "plugins", "--json"])
    assert [report["name"] for report in json.loads(before.stdout)] == ["core"]
    assert run([python, "-c", "import disambig_variance_svm"]).returncode == 1
    where = run([python, "-c", "import disambig; print(disambig.__file__)"]).stdout.strip()
    assert Path(where).is_relative_to(site)

    build_and_install(
        site,
        ROOT / "plugins" / "disambig_variance_svm",
        name="disambig-variance-svm",
        version="9.8.7",
        entry='variance_svm = "disambig_variance_svm.plugin"',
    )
    after = run([*command, "plugins", "--json"])
    reports = {report["name"]: report for report in json.loads(after.stdout)}
    assert set(reports) == {"core", "variance_svm"}
    ours = reports["variance_svm"]
    assert (ours["distribution"], ours["version"], ours["error"]) == ("disambig-variance-svm", "9.8.7", None)
    assert ["learners", "variance_svm.VarianceSVM.v1"] in ours["registered"]

    script = f"import os; os.chdir({str(tmp_path)!r})\n{USE}"
    used = run([python, "-W", "error", "-c", script])
    assert used.returncode == 0, used.stderr
    observed, chosen, module = used.stdout.split("|")
    assert (observed, chosen) == ("quite", "quiet")
    assert Path(module).is_relative_to(site)


def run_in(*command, folder, path=""):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("kind", "n_parts"), [("labels", 5), ("words", 1)])
def test_the_new_plugin_keeps_the_contracts(tmp_path, monkeypatch, kind, n_parts):
    home = write_plugin(f"my{kind}", tmp_path / "new", kind=kind)
    install(home, monkeypatch)
    namespace = runpy.run_path(str(home / "tests" / f"test_my{kind}.py"))
    assert len(namespace["CHECKS"]) == n_parts
    for part, checks in namespace["CHECKS"].items():
        assert len(checks) > 5, part
        for check in checks:
            check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "lists", "decoder"])
def test_every_kind_passes_its_own_tests(tmp_path, monkeypatch, kind):
    home = write_plugin(f"my{kind}", tmp_path / "new", kind=kind)
    install(home, monkeypatch)
    output = run_in("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=home, path=home)
    assert " passed" in output and "failed" not in output
    listed = run_in("-m", "disambig.cli.main", "plugins", f"my{kind}", folder=home, path=home)
    assert "BROKEN" not in listed and f"my{kind}." in listed
    if kind == "lists":
        trained = ["train", "mylists", "--lists", "lists.jsonl", "--output", tmp_path / "model", "--no-test"]
        run_in("-m", "disambig.cli.main", *trained, folder=home, path=home)
        options = ["--from", "nbest", "--model", tmp_path / "model"]
        best = run_in("-m", "disambig.cli.main", "annotate", "lists.jsonl", *options, folder=home, path=home)
        assert best.count("model_score") == 4 * 40


@pytest.mark.slow
def test_an_installed_new_plugin_passes_its_own_tests(tmp_path):
    pytest.importorskip("hatchling")
    home, site = write_plugin("kind", tmp_path / "new"), tmp_path / "site"
    pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index"]
    run_in(*pip, "--no-build-isolation", "--target", site, home, folder=home)
    assert (site / "disambig_kind" / "kind.cfg").is_file()
    output = run_in("-m", "pytest", "-q", folder=home, path=site)
    assert " passed" in output and "failed" not in output
    assert "learner: kind.Softmax.v1" in run_in(
        "-m", "disambig.cli.main", "plugins", "kind", folder=home, path=site
    )
    model = tmp_path / "model"
    trained = ["train", "kind", "--labelled", "examples.jsonl", "--output", model, "--no-test"]
    run_in("-m", "disambig.cli.main", *trained, folder=home, path=site)
    (home / "mail.txt").write_text("Please wait. The train was late.\n")
    decided = run_in(
        "-m", "disambig.cli.main", "annotate", "mail.txt", "--model", model, folder=home, path=site
    )
    assert '"chosen": "request"' in decided and '"chosen": "report"' in decided


DOCTOR = [sys.executable, "-c", "from disambig.cli.main import run; run()", "doctor"]
CORE = "[disambig]\ncore = disambig.builtin\n"
SVM = "variance_svm = disambig_variance_svm.plugin\n"
COMPONENT = "[spacy_factories]\ndisambig_spelling = disambig_variance_svm.components:make_spelling\n"


def doctor(*arguments, path=(), **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DISAMBIG_")}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*DOCTOR, *map(str, arguments)],
        env=environment | variables,
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def list_problems(done):
    return [(f["area"], f["what"], f["mend"]) for f in json.loads(done.stdout) if f["status"] == "problem"]


def write_metadata(home, name, version, entries="", *, requires=()):
    """Write the metadata of a distribution, which precedes an installed one with the same name."""
    info = home / f"{name}-{version}.dist-info"
    info.mkdir()
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.10"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "entry_points.txt").write_text(entries)
    return home


def test_a_text_and_the_numbers_as_json(short_doctor):
    done = here(
        "doctor", "--json", "--quick", "They walked to school from nine until noon, and it was quite late."
    )
    findings = json.loads(done.stdout)
    assert done.stderr == ""
    assert done.returncode == (2 if any(f["status"] == "problem" for f in findings) else 0)
    areas = {f["area"] for f in findings}
    assert areas >= {
        "versions",
        "plugins",
        "spaCy",
        "compiler",
        "packs",
        "tables",
        "models",
        "coverage",
        "speed",
    }
    (prepositions,) = (f for f in findings if f["what"].startswith("disambig_en/preposition: "))
    assert 0 < prepositions["numbers"]["found_2"] <= prepositions["numbers"]["asked_2"]


@pytest.mark.slow
def test_standard_input_and_no_text():
    done = here("doctor", "-", "--quick", "--json", given="It is a quiet place.")
    assert any("disambig_en/it: 1 decision" in f["what"] for f in json.loads(done.stdout))
    done = here("doctor", "-", given=" \n")
    assert (done.returncode, done.stdout) == (2, "") and "[D307]" in done.stderr


def test_no_pack_a_wrong_version_and_failing_plugins(tmp_path):
    entries = CORE + SVM + COMPONENT
    write_metadata(tmp_path, "disambig", "0.1.0", entries, requires=["spacy<4,>=3.8", "neverwhere>=1"])
    write_metadata(tmp_path, "spacy", "2.3.9")
    write_metadata(tmp_path, "raising", "1.0", "[disambig]\nraising = raising_plugin\n")
    (tmp_path / "raising_plugin.py").write_text("raise SystemExit('gone')")
    write_metadata(tmp_path, "foreign", "1.0", "[spacy_factories]\nforeign = foreign_factory:make\n")
    (tmp_path / "foreign_factory.py").write_text("1 / 0")
    done = doctor("--json", path=[tmp_path])
    assert done.returncode == 2
    problems = list_problems(done)
    assert [area for area, _, _ in problems] == ["versions", "versions", "plugins", "spaCy", "packs"]
    whole = "\n".join(f"{what} -> {mend}" for _, what, mend in problems)
    assert "spacy 2.3.9 is not <4,>=3.8 -> pip install 'spacy" in whole
    assert "neverwhere is missing -> pip install 'neverwhere>=1'" in whole
    place = "(raising_plugin.py:1, in <module>) -> update or uninstall raising"
    assert f"raising (raising 1.0) could not be loaded: SystemExit: gone {place}" in whole
    assert "the factory foreign of foreign fails" in whole
    assert "ZeroDivisionError: division by zero (foreign_factory.py:1, in <module>)" in whole
    assert "no pack is installed" in whole
    assert all(mend for _, _, mend in problems)


def test_a_pack_without_its_plugin(tmp_path):
    """Models that name entries of a missing plugin are reported as problems, without a traceback."""
    write_metadata(tmp_path, "disambig", "0.1.0", CORE + COMPONENT + "[disambig_packs]\nen = disambig_en\n")
    done = doctor("--quick", "--json", path=[tmp_path])
    assert done.returncode == 2
    assert {area for area, _, _ in list_problems(done)} == {"models"}
    assert all("[D001]" in what or "[D005]" in what for _, what, _ in list_problems(done))


@pytest.mark.slow
@pytest.mark.parametrize("strict", ["0", "1"])
def test_strict_plugins_only_change_the_message(tmp_path, strict):
    write_metadata(tmp_path, "raising", "1.0", "[disambig]\nraising = raising_plugin\n")
    (tmp_path / "raising_plugin.py").write_text("raise ImportError('no library')")
    done = doctor("--quick", path=[tmp_path], DISAMBIG_STRICT_PLUGINS=strict)
    assert done.returncode == 2
    assert "PROBLEM plugins:" in done.stdout and "no library" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 problem," if strict == "0" else "")


@pytest.mark.slow
def test_a_damaged_pack_beside_a_good_one(tmp_path):
    home = tmp_path / "hurt_pack"
    home.mkdir()
    (home / "hurt.counts").write_bytes(b"DISAMBIG-COUNTS\n" + bytes(100))
    output = {
        "name": "hurt_pack",
        "version": "1",
        "language": "xx",
        "counts": "hurt.counts",
        "models": {"a": "b"},
    }
    (home / "pack.json").write_text(json.dumps(output))
    write_metadata(tmp_path, "hurt", "1.0", "[disambig_packs]\nhurt = hurt_pack\n")
    done = doctor("--quick", path=[tmp_path])
    assert done.returncode == 2
    assert "PROBLEM tables: [D104]" in done.stdout and "PROBLEM models: [D405]" in done.stdout
    assert done.stdout.count("pip install --force-reinstall --no-deps hurt\n") == 2
    assert "ok      models: disambig_en/spelling" in done.stdout and "words/s" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 problems")


@pytest.mark.slow
def test_where_compiled_code_is_kept(tmp_path):
    done = doctor("--quick", "--json", NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    (compiler,) = (f for f in json.loads(done.stdout) if f["area"] == "compiler")
    assert compiler["status"] == "ok" and str(tmp_path / "kept") in compiler["what"]


@pytest.mark.slow
def test_a_compiler_turned_off_is_a_problem():
    done = doctor("--quick", "--json", NUMBA_DISABLE_JIT="1", DISAMBIG_ENGINE="numpy")
    assert ("compiler", "unset NUMBA_DISABLE_JIT") in [(area, mend) for area, _, mend in list_problems(done)]


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("DISAMBIG_FAULTS") != "whole", reason="minutes: DISAMBIG_FAULTS=whole")
def test_everything_can_be_compiled_at_once(tmp_path):
    """All functions are compiled, and a later process finds them in the cache."""
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "DISAMBIG_TELL_COMPILING": "0"}
    done = doctor("--compile", "--json", "--quiet", **place)
    assert done.returncode == 0, done.stderr
    code = (
        "from disambig import jit\n"
        "from disambig.doctor import compiled_finding, is_compiled\n"
        "compiled_finding()\n"
        "for function in jit.compiled_functions():\n"
        "    if not is_compiled(function): print(function.py_func.__module__, function.py_func.__name__)\n"
    )
    again = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | place, capture_output=True, text=True, check=True
    )
    assert again.stdout == ""
    (finding,) = json.loads(done.stdout)
    assert finding["numbers"]["compiled"] == finding["numbers"]["kernels"] > 80
