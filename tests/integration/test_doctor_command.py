"""``disambig doctor``, in this process and, on damaged installations, in a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from commands import here

COMMAND = [sys.executable, "-c", "from disambig.cli.main import run; run()", "doctor"]


CORE = "[disambig]\ncore = disambig.builtin\n"


SVM = "variance_svm = disambig_variance_svm.plugin\n"


COMPONENT = "[spacy_factories]\ndisambig_spelling = disambig_variance_svm.components:make_spelling\n"


def doctor(*arguments, path=(), **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DISAMBIG_")}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment | variables,
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def found(done):
    return [(f["area"], f["what"], f["mend"]) for f in json.loads(done.stdout) if f["status"] == "problem"]


def distribution(home, name, version, entries="", *, requires=()):
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
    distribution(tmp_path, "disambig", "0.1.0", entries, requires=["spacy<4,>=3.8", "neverwhere>=1"])
    distribution(tmp_path, "spacy", "2.3.9")
    distribution(tmp_path, "raising", "1.0", "[disambig]\nraising = raising_plugin\n")
    (tmp_path / "raising_plugin.py").write_text("raise SystemExit('gone')")
    distribution(tmp_path, "foreign", "1.0", "[spacy_factories]\nforeign = foreign_factory:make\n")
    (tmp_path / "foreign_factory.py").write_text("1 / 0")
    done = doctor("--json", path=[tmp_path])
    assert done.returncode == 2
    problems = found(done)
    assert [area for area, _, _ in problems] == ["versions", "versions", "plugins", "spaCy", "packs"]
    whole = "\n".join(f"{what} -> {mend}" for _, what, mend in problems)
    assert "spacy 2.3.9 is not <4,>=3.8 -> pip install 'spacy" in whole
    assert "neverwhere is missing -> pip install 'neverwhere>=1'" in whole
    place = "(raising_plugin.py:1, in <module>) -> update or uninstall raising"
    assert f"raising (raising 1.0) could not be loaded: SystemExit: gone {place}" in whole
    assert "the factory foreign of foreign fails" in whole and "ZeroDivisionError" in whole
    assert "no pack is installed" in whole
    assert all(mend for _, _, mend in problems)


def test_a_pack_without_its_plugin(tmp_path):
    """Models that name entries of a missing plugin are reported as problems, without a traceback."""
    distribution(tmp_path, "disambig", "0.1.0", CORE + COMPONENT + "[disambig_packs]\nen = disambig_en\n")
    done = doctor("--quick", "--json", path=[tmp_path])
    assert done.returncode == 2
    assert {area for area, _, _ in found(done)} == {"models"}
    assert all("[D001]" in what or "[D005]" in what for _, what, _ in found(done))


@pytest.mark.slow
@pytest.mark.parametrize("strict", ["0", "1"])
def test_strict_plugins_only_change_the_message(tmp_path, strict):
    distribution(tmp_path, "raising", "1.0", "[disambig]\nraising = raising_plugin\n")
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
    distribution(tmp_path, "hurt", "1.0", "[disambig_packs]\nhurt = hurt_pack\n")
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
    assert ("compiler", "unset NUMBA_DISABLE_JIT") in [(area, mend) for area, _, mend in found(done)]


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
