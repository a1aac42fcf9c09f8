"""`disambig doctor`: one line and a remedy for each problem; compilation in advance."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError
from pathlib import Path

import pytest
from tiny_models import save_tiny_models

from disambig import doctor, packs, text
from disambig.counts import build_table
from disambig.doctor import OK, PROBLEM, WARNING, CheckResultLine, guard_check
from disambig.features import ContextProbabilities, ContextWords, NgramCounts, Subsequences, WordNetwork
from disambig.metrics import ErrorRate
from disambig.models import annotate, load
from disambig.registry import PluginReport
from disambig.text import Words
from disambig.types import RaisesFlags


def problems(findings):
    return [finding for finding in findings if finding.status == PROBLEM]


def test_a_failing_check_is_a_finding():
    def check_packs():
        yield CheckResultLine("x", OK, "first")
        raise RuntimeError("two\nlines")

    first, second = guard_check("x", check_packs)
    assert first.status == OK
    assert second.status == PROBLEM and second.what.startswith("RuntimeError: two lines") and second.mend


def test_a_failing_plugin_is_named_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "failing_plugin.py").write_text("def transform():\n    raise IndexError('seven')\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugin = importlib.import_module("failing_plugin")
    monkeypatch.delitem(sys.modules, "failing_plugin")

    (finding,) = guard_check("x", plugin.transform, subject="my/model", mend="train the model again")
    assert finding.what.startswith("my/model: IndexError: seven (")
    assert finding.what.endswith("failing_plugin.py:2, in transform)")
    assert finding.mend == "correct the plugin, or report this line to its author"


def test_remedy_for_a_missing_package():
    def check_packs():
        raise ModuleNotFoundError("No module named 'somewhere.deep'", name="somewhere.deep")
        yield

    (finding,) = guard_check("x", check_packs, mend="install the pack again")
    assert finding.mend == "pip install --force-reinstall somewhere"


def test_compares_versions_with_requirements(monkeypatch):
    installed = {"numpy": "1.20.0", "scipy": "1.13.0", "spacy": "4.0.0", "pluggy": "of mine"}

    def version(name):
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    requirements = ["numpy>=2.0", "scipy>=1.13", "absent>=3", 'pyarrow>=16; extra == "parquet"']
    requirements += ["spacy>=3.8,<4", "pluggy>=1.5"]
    monkeypatch.setattr(doctor, "requires", lambda name: requirements)
    monkeypatch.setattr(doctor, "version", version)
    result = list(doctor.check_versions())
    assert [(f.what, f.mend) for f in problems(result)] == [
        ("numpy 1.20.0 is not >=2.0", "pip install 'numpy>=2.0'"),
        ("absent is missing", "pip install 'absent>=3'"),
        ("spacy 4.0.0 is not <4,>=3.8", "pip install 'spacy<4,>=3.8'"),
        ("pluggy of mine is not >=1.5", "pip install 'pluggy>=1.5'"),
    ]
    assert result[-1].what == "scipy 1.13.0"


def test_names_a_broken_plugin(monkeypatch):
    reports = [
        PluginReport("good", "a", "1", "a.b", None, (("tasks", "a.A.v1"),)),
        PluginReport("bad", "b", "2", "b.c", "ImportError: no\nway"),
    ]
    monkeypatch.setattr(doctor, "load_plugins", lambda: reports)
    good, bad = doctor.check_plugins()
    assert good.status == OK and good.what.endswith(": entries: 1")
    assert bad.status == PROBLEM and "bad (b 2) could not be loaded: ImportError: no way" in bad.what
    assert bad.mend == "update or uninstall b"
    monkeypatch.setattr(doctor, "load_plugins", list)
    assert [f.status for f in doctor.check_plugins()] == [PROBLEM]


def test_names_a_plugin_that_needs_another_version(monkeypatch):
    reports = [
        PluginReport("near", "near-dist", "1", "a.b", None, (("tasks", "a.A.v1"),)),
        PluginReport("gone", "gone-dist", "1", "a.b", None, (("tasks", "b.A.v1"),)),
    ]
    requirements = {"near-dist": ["disambig>=99", "numpy>=1", 'absent>=1; extra == "test"', "not valid !"]}
    monkeypatch.setattr(doctor, "load_plugins", lambda: reports)

    def requires(name):
        if name not in requirements:
            raise PackageNotFoundError(name)
        return requirements[name]

    monkeypatch.setattr(doctor, "requires", requires)
    monkeypatch.setattr(doctor, "version", lambda name: "0.1.0" if name == "disambig" else "2.0")
    (finding,) = problems(doctor.check_plugins())
    assert finding.what == "near (near-dist 1) needs disambig>=99, but disambig 0.1.0 is not >=99"
    assert finding.mend == "pip install 'disambig>=99'"


def test_warns_of_a_forced_backend(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    assert len(list(doctor.check_compiler())) == 1
    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    assert list(doctor.check_compiler())[-1].status == WARNING


def test_reports_disabled_compilation(monkeypatch):
    monkeypatch.setattr(text, "fmix64", text.fmix64.py_func)  # as under NUMBA_DISABLE_JIT
    (finding,) = doctor.check_compiler()
    assert (finding.status, finding.mend) == (PROBLEM, "unset NUMBA_DISABLE_JIT")


@dataclass
class Entry:
    value: str
    dist: None = None


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An installed pack that contains only a table."""
    home = tmp_path / "tiny_pack"
    home.mkdir()
    build_table(home / "tiny.counts", ["a quiet place to be"] * 3, Words())
    description = {
        "name": "tiny_pack",
        "version": "1",
        "language": "en",
        "counts": "tiny.counts",
        "models": {},
    }
    (home / "pack.json").write_text(json.dumps(description))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "entry_points", lambda group: [Entry("tiny_pack")])
    return home


def check_packs(quick=False):
    return list(doctor.check_packs(doctor.CheckedPacks(quick=quick)))


def test_accepts_an_intact_pack(home):
    result = check_packs()
    assert not problems(result)
    assert "checksums verified" in result[-1].what


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "json", "task", "outside"])
def test_a_damaged_pack_is_one_problem_with_a_remedy(home, damage):
    table, description = home / "tiny.counts", home / "pack.json"
    data = table.read_bytes()
    if damage == "cut":
        table.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        table.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    elif damage == "gone":
        description.unlink()
    elif damage == "json":
        description.write_text("{")
    elif damage == "task":
        description.write_text(
            json.dumps(json.loads(description.read_text()) | {"models": {"x": "models/x"}})
        )
    else:
        description.write_text(
            json.dumps(json.loads(description.read_text()) | {"counts": "../other.counts"})
        )
    (problem,) = problems(check_packs())
    assert "\n" not in problem.what and problem.mend
    if damage == "flip":
        assert not problems(check_packs(quick=True))  # only a complete read shows this


@pytest.mark.parametrize("is_inside", [True, False])
def test_warns_of_a_model_of_a_pack_whose_table_is_elsewhere(home, tmp_path, is_inside):
    folder = home if is_inside else tmp_path
    table = build_table(folder / "own.counts", ["a quiet place to be in the morning"] * 3, Words())
    task, model = next(iter(save_tiny_models(home / "models", table).items()))
    description = json.loads((home / "pack.json").read_text())
    models = {task: Path(model).relative_to(home).as_posix()}
    (home / "pack.json").write_text(json.dumps(description | {"models": models}))
    result = check_packs()
    assert not problems(result)
    warnings = [line for line in result if line.status == WARNING]
    assert [f"reads {table}, which is in no pack" in line.what for line in warnings] == [True] * (
        not is_inside
    )


def test_a_damaged_pack_is_reported_once_whatever_other_packs_have(home, tmp_path, monkeypatch):
    description = json.loads((home / "pack.json").read_text())
    shutil.copytree(packs.model_folder("preposition"), home / "model")  # its table is that of a pack
    (home / "pack.json").write_text(json.dumps(description | {"models": {"preposition": "model"}}))
    (tmp_path / "disambig_en").mkdir()
    (tmp_path / "disambig_en" / "__init__.py").touch()
    (tmp_path / "disambig_en" / "pack.json").write_text("{")
    monkeypatch.delitem(sys.modules, "disambig_en", raising=False)  # another test may import it
    entries = [Entry("tiny_pack"), Entry("disambig_en")]
    for module in (doctor, packs):
        monkeypatch.setattr(module, "entry_points", lambda group: entries)
    (problem,) = problems(check_packs())
    assert "disambig_en is damaged" in problem.what and problem.area == "packs"


def test_reports_that_no_pack_is_installed(monkeypatch):
    monkeypatch.setattr(doctor, "entry_points", lambda group: [])
    (problem,) = problems(check_packs())
    assert "no pack is installed" in problem.what


def test_reports_a_missing_model(tmp_path):
    (problem,) = problems(doctor.check_named([str(tmp_path / "nothing")], doctor.CheckedPacks()))
    assert "D405" in problem.what and problem.mend


@pytest.fixture
def tiny_models(tmp_path):
    """Models of words with their own table."""
    table = build_table(tmp_path / "own.counts", ["a quiet place to be in the morning"] * 3, Words())
    return save_tiny_models(tmp_path / "models", table)


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_checks_the_table_of_named_models_once(tiny_models):
    checked = doctor.CheckedPacks()
    result = list(doctor.check_named(list(tiny_models.values()), checked))
    assert not problems(result) and [model.task.name for model in checked.models] == list(tiny_models)
    (table,) = (finding for finding in result if finding.area == "tables")  # once, not once per model
    assert "own.counts" in table.what and table.numbers["ngrams"] > 0


@pytest.mark.parametrize("damage", ["weights", "config", "json", "words", "table"])
def test_a_damaged_model_is_one_problem(tiny_models, tmp_path, damage):
    home = Path(tiny_models["spelling"])
    if damage == "weights":
        flip(home / "judge.npz", -40)
    elif damage == "config":
        (home / "config.cfg").unlink()
    elif damage == "json":
        (home / "model.json").write_text("[]")
    elif damage == "words":  # the config matches model.json, but its tokenisation is not that of the table
        description = (home / "config.cfg").read_text()
        (home / "config.cfg").write_text(description.replace("disambig.words.v1", "web1t.v1"))
        described = json.loads((home / "model.json").read_text())
        data = (home / "config.cfg").read_bytes()
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        described["files"]["config.cfg"] = {"size": len(data), "blake2b": digest}
        (home / "model.json").write_text(json.dumps(described))
    else:  # a different table under the same name
        build_table(tmp_path / "own.counts", ["another table"] * 3, Words(), force=True)
        del tiny_models["preposition"]
    checked = doctor.CheckedPacks()
    (problem,) = problems(list(doctor.check_named(list(tiny_models.values()), checked)))
    code = {"words": "D110", "table": "D408"}.get(damage, "D405")
    assert code in problem.what and problem.mend == doctor.COPY
    assert len(checked.models) == len(tiny_models) - 1


def test_a_broken_pack_does_not_hide_others(home, tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    entries = [Entry("leaving.pack"), Entry("missing_pack"), Entry("missing.pack"), Entry("tiny_pack")]
    monkeypatch.setattr(doctor, "entry_points", lambda group: entries)
    result = check_packs()
    assert len(problems(result)) == 3 and all(finding.mend for finding in problems(result))
    assert "tiny_pack 1" in result[-2].what and result[-1].area == "tables"


def load_pack_models():
    return [load(f"disambig_en/{task}") for task in ("preposition", "spelling", "it")]


def test_sample_covers_every_model_of_the_pack(short_doctor):
    loaded = load_pack_models()
    assert not isinstance(loaded[-1].judge, RaisesFlags)
    result = list(doctor.check_sample(loaded, None))
    assert [f.area for f in result] == ["coverage"] * 3 + ["speed"]
    assert not problems(result)
    assert "5-grams" in result[0].what and "flagged" in result[0].what
    assert "flagged" not in result[2].what  # labels are not flags
    assert "3 models" in result[-1].what and result[-1].numbers["words_per_second"] > 0


@pytest.mark.parametrize(
    "text", ["Zzyx qwv.", "a", "?", "Quiet", "to " * 20, "They went to the old town. " * 60]
)
def test_texts_of_any_length(short_doctor, text):
    result = list(doctor.check_sample(load_pack_models(), text))
    assert not problems(result) and len(result) == 4


def test_orders_add_up_to_all_queries():
    for model in load_pack_models()[:2]:
        (decisions,) = annotate([doctor.SAMPLE], [model])
        orders = doctor.queries_by_order(model, doctor.SAMPLE)
        assert list(orders) == [2, 3, 4, 5]
        assert sum(hits for hits, _ in orders.values()) == decisions.n_hits.sum() > 0
        assert sum(n_queries for _, n_queries in orders.values()) == decisions.n_queries.sum()


def test_warns_of_low_coverage(tiny_models, short_doctor):
    checked = doctor.CheckedPacks()
    list(doctor.check_named([tiny_models["spelling"]], checked))
    *_, speed = result = list(
        doctor.check_sample(checked.models, "They went too far, than it was quite late.")
    )
    assert result[0].status == WARNING and "count text of your own" in result[0].mend
    assert result[0].numbers["asked"] > 0 and speed.area == "speed"


def test_a_failing_model_does_not_hide_others(short_doctor):
    class Broken:
        tokenisation = Words()
        name = "broken"

    result = list(doctor.check_sample([Broken(), *load_pack_models()[1:2]], None))
    assert [f.status == PROBLEM for f in result] == [True, False, False]
    assert "1 model," in result[-1].what


def test_names_a_failing_spacy_factory(monkeypatch):
    entries = [
        EntryPoint("disambig_spelling", "disambig_variance_svm.components:make_spelling", "spacy_factories"),
        EntryPoint("foreign", "no_such_module_of_anybody:make", "spacy_factories"),
    ]
    monkeypatch.setattr(doctor, "entry_points", lambda group: entries)
    bad, good = doctor.check_spacy()
    assert bad.status == PROBLEM and "foreign" in bad.what and "no_such_module_of_anybody" in bad.what
    assert good.status == OK and good.what.endswith("with disambig_spelling")


def test_reports_that_spacy_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    (finding,) = doctor.check_spacy()
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
def test_install_source(tmp_path, monkeypatch, origin, source):
    info = tmp_path / "x-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    if origin is not None:
        (info / "direct_url.json").write_text(origin)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert doctor.install_source("x") == source
    assert doctor.install_source("nowhere-at-all") == "nowhere-at-all"


def test_compiles_counting(tmp_path, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "numba")
    doctor._count(tmp_path)
    assert {"plain", "gaps", "merged", "pruned", "imported"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_compile_all_reports_work_and_restores_the_backend(monkeypatch, engine):
    if engine is None:
        monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    else:
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    engines, reported = [], []

    def broken():
        engines.append(os.environ["DISAMBIG_ENGINE"])
        raise ValueError("this one is broken")

    work = [("broken", broken), ("learner", lambda: engines.append("learned"))]
    monkeypatch.setattr(doctor, "compile_works", lambda place: work)
    (finding,) = doctor.compile_all(lambda *what: reported.append(what))
    assert engines == ["numba", "learned"]
    assert reported == [("compiling: broken", 0, 2), ("compiling: learner", 1, 2)]
    assert os.environ.get("DISAMBIG_ENGINE") == engine
    assert finding.status == OK and 0 <= finding.numbers["compiled"] <= finding.numbers["kernels"] > 50


def test_compile_work_covers_every_kind(tmp_path):
    names = {name for name, _ in doctor.compile_works(tmp_path)}
    assert {"counting", "disambig.WordNetwork.v1", "disambig.ErrorRate.v1"} <= names
    assert {"disambig.NoPreference.v1", "disambig.decode.chain_kernels.sample_chains"} <= names


def test_compile_work_of_extractors_succeeds(tmp_path):
    """`disambig doctor` ignores work that fails, so it is run here directly."""
    doctor._count(tmp_path)
    for make in (NgramCounts, ContextProbabilities, WordNetwork, ContextWords, Subsequences):
        doctor._transform(tmp_path, make)
    doctor._measure(ErrorRate)
