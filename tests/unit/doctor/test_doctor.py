"""The checks of the doctor on what is broken: each problem is one line with a way to mend it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "integration"))
from tiny_models import save_tiny_models

from disambig.counts import build_table
from disambig.doctor import OK, PROBLEM, WARNING, CheckResultLine, guard_check, sample
from disambig.doctor import checks as installation
from disambig.doctor import checks as packs
from disambig.models import annotate
from disambig.models.storage import _fingerprint
from disambig.registry import PluginReport
from disambig.text import Words
from disambig.types import RaisesFlags


def problems(findings):
    return [finding for finding in findings if finding.status == PROBLEM]


def test_a_check_that_fails_is_a_finding():
    def check():
        yield CheckResultLine("x", OK, "first")
        raise RuntimeError("two\nlines")

    first, second = guard_check("x", check)
    assert first.status == OK
    assert (second.status, second.what) == (PROBLEM, "RuntimeError: two lines") and second.mend


def test_a_missing_package_is_what_is_to_be_installed():
    def check():
        raise ModuleNotFoundError("No module named 'somewhere.deep'", name="somewhere.deep")
        yield

    (finding,) = guard_check("x", check, mend="install the pack again")
    assert finding.mend == "pip install --force-reinstall somewhere"


def test_versions_are_held_against_what_is_required(monkeypatch):
    installed = {"numpy": "1.20.0", "scipy": "1.13.0", "spacy": "4.0.0", "pluggy": "of mine"}

    def version(name):
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    wanted = ["numpy>=2.0", "scipy>=1.13", "absent>=3", 'pyarrow>=15; extra == "parquet"']
    wanted += ["spacy>=3.8,<4", "pluggy>=1.5"]
    monkeypatch.setattr(installation, "requires", lambda name: wanted)
    monkeypatch.setattr(installation, "version", version)
    found = list(installation.check_versions())
    assert [(f.what, f.mend) for f in problems(found)] == [
        ("numpy 1.20.0 is not >=2.0", "pip install 'numpy>=2.0'"),
        ("absent is missing", "pip install 'absent>=3'"),
        ("spacy 4.0.0 is not <4,>=3.8", "pip install 'spacy<4,>=3.8'"),
        ("pluggy of mine is not >=1.5", "pip install 'pluggy>=1.5'"),
    ]
    assert found[-1].what == "scipy 1.13.0"


def test_a_broken_plugin_is_named(monkeypatch):
    reports = [
        PluginReport("good", "a", "1", "a.b", None, (("tasks", "a.A.v1"),)),
        PluginReport("bad", "b", "2", "b.c", "ImportError: no\nway"),
    ]
    monkeypatch.setattr("disambig.registry.load_plugins", lambda: reports)
    good, bad = installation.check_plugins()
    assert good.status == OK and good.what.endswith(": entries: 1")
    assert bad.status == PROBLEM and "bad (b 2) could not be loaded: ImportError: no way" in bad.what
    assert bad.mend == "update or uninstall b"
    monkeypatch.setattr("disambig.registry.load_plugins", list)
    assert [f.status for f in installation.check_plugins()] == [PROBLEM]


def test_a_forced_engine_is_a_warning(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    assert len(list(installation.check_compiler())) == 1
    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    assert list(installation.check_compiler())[-1].status == WARNING


def test_functions_that_are_not_compiled_are_a_problem(monkeypatch):
    from disambig import text

    monkeypatch.setattr(text, "fmix64", text.fmix64.py_func)  # as with NUMBA_DISABLE_JIT
    (finding,) = installation.check_compiler()
    assert (finding.status, finding.mend) == (PROBLEM, "unset NUMBA_DISABLE_JIT")


@dataclass
class Entry:
    value: str
    dist: None = None


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A pack of a table only, installed."""
    home = tmp_path / "tiny_pack"
    home.mkdir()
    build_table(home / "tiny.counts", ["a quiet place to be"] * 3, Words())
    said = {"name": "tiny_pack", "version": "1", "language": "en", "counts": "tiny.counts", "models": {}}
    (home / "pack.json").write_text(json.dumps(said))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packs, "entry_points", lambda group: [Entry("tiny_pack")])
    return home


def check(quick=False):
    return list(packs.check_packs(packs.CheckedPacks(quick=quick)))


def test_a_whole_pack_is_well(home):
    found = check()
    assert not problems(found)
    assert "checksums verified" in found[-1].what


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "json", "task", "outside"])
def test_a_damaged_pack_is_one_problem_and_how_to_mend_it(home, damage):
    table, said = home / "tiny.counts", home / "pack.json"
    data = table.read_bytes()
    if damage == "cut":
        table.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        table.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    elif damage == "gone":
        said.unlink()
    elif damage == "json":
        said.write_text("{")
    elif damage == "task":
        said.write_text(json.dumps(json.loads(said.read_text()) | {"models": {"x": "models/x"}}))
    else:
        said.write_text(json.dumps(json.loads(said.read_text()) | {"counts": "../other.counts"}))
    (problem,) = problems(check())
    assert "\n" not in problem.what and problem.mend
    if damage == "flip":
        assert not problems(check(quick=True))  # only reading it through shows that


def test_without_a_pack_there_is_a_problem(monkeypatch):
    monkeypatch.setattr(packs, "entry_points", lambda group: [])
    (problem,) = problems(check())
    assert "no pack is installed" in problem.what


def test_a_model_that_is_none_is_a_problem(tmp_path):
    (problem,) = problems(packs.check_named([str(tmp_path / "nothing")], packs.CheckedPacks()))
    assert "D405" in problem.what and problem.mend


@pytest.fixture
def tiny(tmp_path):
    """Models of words, of a table of their own."""
    table = build_table(tmp_path / "own.counts", ["a quiet place to be in the morning"] * 3, Words())
    return save_tiny_models(tmp_path / "models", table)


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_models_of_the_user_have_their_table_checked(tiny):
    looked = packs.CheckedPacks()
    found = list(packs.check_named(list(tiny.values()), looked))
    assert not problems(found) and [model.task.name for model in looked.models] == list(tiny)
    (table,) = (finding for finding in found if finding.area == "tables")  # once, not once a model
    assert "own.counts" in table.what and table.numbers["ngrams"] > 0


@pytest.mark.parametrize("damage", ["weights", "config", "json", "words", "table"])
def test_a_damaged_model_is_one_problem_and_the_others_are_looked_at(tiny, tmp_path, damage):
    home = Path(tiny["spelling"])
    if damage == "weights":
        flip(home / "judge.npz", -40)
    elif damage == "config":
        (home / "config.cfg").unlink()
    elif damage == "json":
        (home / "model.json").write_text("[]")
    elif damage == "words":  # the config is as model.json says, but its words are not those of the table
        said = (home / "config.cfg").read_text()
        (home / "config.cfg").write_text(said.replace("disambig.words.v1", "web1t.v1"))
        described = json.loads((home / "model.json").read_text())
        described["files"]["config.cfg"] = _fingerprint(home / "config.cfg")
        (home / "model.json").write_text(json.dumps(described))
    else:  # another table under the same name
        build_table(tmp_path / "own.counts", ["another table"] * 3, Words(), force=True)
        del tiny["preposition"]
    looked = packs.CheckedPacks()
    (problem,) = problems(list(packs.check_named(list(tiny.values()), looked)))
    code = {"words": "D110", "table": "D408"}.get(damage, "D405")
    assert code in problem.what and problem.mend == packs.COPY
    assert len(looked.models) == len(tiny) - 1


def test_a_broken_pack_hides_no_other(home, tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    entries = [Entry("leaving.pack"), Entry("missing_pack"), Entry("missing.pack"), Entry("tiny_pack")]
    monkeypatch.setattr(packs, "entry_points", lambda group: entries)
    found = check()
    assert len(problems(found)) == 3 and all(finding.mend for finding in problems(found))
    assert "tiny_pack 1" in found[-2].what and found[-1].area == "tables"


def of_the_pack():
    from disambig.models import load

    return [load(f"disambig_en/{task}") for task in ("preposition", "spelling", "it")]


def test_the_sample_has_something_for_every_model_of_the_pack():
    loaded = of_the_pack()
    assert not isinstance(loaded[-1].judge, RaisesFlags)
    found = list(sample.check_sample(loaded, None))
    assert [f.area for f in found] == ["coverage"] * 3 + ["speed"]
    assert not problems(found)
    assert "5-grams" in found[0].what and "flagged" in found[0].what
    assert "flagged" not in found[2].what  # labels are no flags
    assert "3 models" in found[-1].what and found[-1].numbers["words_per_second"] > 0


@pytest.mark.parametrize("text", ["Zzyx qwv.", "a", "?", "Quiet", "to " * 3000])
def test_texts_of_any_length(monkeypatch, text):
    monkeypatch.setattr(sample, "_WORDS", 100)  # so many are enough for a speed
    found = list(sample.check_sample(of_the_pack(), text))
    assert not problems(found) and len(found) == 4


def test_orders_add_up_to_all_that_is_asked():
    for model in of_the_pack()[:2]:
        (decisions,) = annotate([sample.SAMPLE], [model])
        orders = sample.asked_by_order(model, sample.SAMPLE)
        assert list(orders) == [2, 3, 4, 5]
        assert sum(known for known, _ in orders.values()) == decisions.found.sum() > 0
        assert sum(asked for _, asked in orders.values()) == decisions.asked.sum()


def test_little_coverage_is_a_warning(tiny):
    looked = packs.CheckedPacks()
    list(packs.check_named([tiny["spelling"]], looked))
    *_, speed = found = list(sample.check_sample(looked.models, "They went too far, than it was quite late."))
    assert found[0].status == WARNING and "count text of your own" in found[0].mend
    assert found[0].numbers["asked"] > 0 and speed.area == "speed"


def test_a_model_that_fails_at_work_hides_no_other():
    class Broken:
        tokenisation = Words()
        name = "broken"

    found = list(sample.check_sample([Broken(), *of_the_pack()[1:2]], None))
    assert [f.status == PROBLEM for f in found] == [True, False, False]
    assert "1 model," in found[-1].what


def test_a_failing_factory_of_anybody_is_named(monkeypatch):
    entries = [
        EntryPoint("disambig_spelling", "disambig_variance_svm.components:make_spelling", "spacy_factories"),
        EntryPoint("foreign", "no_such_module_of_anybody:make", "spacy_factories"),
    ]
    monkeypatch.setattr(installation, "entry_points", lambda group: entries)
    bad, good = installation.check_spacy()
    assert bad.status == PROBLEM and "foreign" in bad.what and "no_such_module_of_anybody" in bad.what
    assert good.status == OK and good.what.endswith("with disambig_spelling")


def test_a_spacy_that_cannot_be_imported_is_a_problem(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    (finding,) = installation.check_spacy()
    assert finding.status == PROBLEM and "pip install" in finding.mend


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ('{"url": "file:///home/me/my%20clone", "dir_info": {}}', "'/home/me/my clone'"),
        (
            '{"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            "git+https://host/x.git@abc",
        ),
        ('{"url": "https://host/x-1.0.whl", "archive_info": {}}', "https://host/x-1.0.whl"),
        ("not JSON", "x"),
        (None, "x"),
    ],
)
def test_a_distribution_is_installed_again_from_where_it_came(tmp_path, monkeypatch, origin, source):
    info = tmp_path / "x-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    if origin is not None:
        (info / "direct_url.json").write_text(origin)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installation.install_source("x") == source
    assert installation.install_source("nowhere-at-all") == "nowhere-at-all"
