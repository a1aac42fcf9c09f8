"""Values of other types than belong there, in configs and in the files of a job: one line with a code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.config import read_config, resolve
from disambig.errors import UserError

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    "section",
    [
        "[task]\n@disambig_tasks = 5\n",
        '[task]\n@disambig_tasks = ["disambig.Words.v1"]\n',
        "[task]\n@disambig_tasks = null\n",
        '[task]\n@disambig_tasks = {"a": 1}\n',
        "[task]\n@disambig_tasks = true\n",
        "[extractors]\n\n[extractors.a]\n@disambig_extractors = []\n",
        '[task]\n@disambig_tasks = "disambig.ConfusionSets.v1"\n@disambig_learners = "x"\n',
        "[task]\n@disambig_tasks = 5.5\n*= 3\n",
    ],
)
def test_a_part_that_is_no_name_is_a_message(tmp_path, section):
    path = tmp_path / "a.cfg"
    path.write_text(section)
    with pytest.raises(UserError, match=r"D00[15]"):
        resolve(dict(read_config(path)), source=path)


@given(
    config=st.dictionaries(
        st.text(max_size=5), st.dictionaries(st.sampled_from(["@disambig_tasks", "a"]), ANY)
    )
)
def test_no_config_raises_anything_else(config):
    try:
        resolve(config)
    except UserError as error:
        assert error.code in ("D001", "D005")


@given(value=ANY, key=st.sampled_from(["layout", "versions", "config", "inputs", "shards", None]))
def test_no_manifest_raises_anything_else(tmp_path_factory, value, key):
    from disambig.jobs import LAYOUT, check_directory

    out = tmp_path_factory.getbasetemp() / "any-job"
    out.mkdir(exist_ok=True)
    inputs = {"files": 0, "sha256": ""}
    new = {"layout": LAYOUT, "versions": {"disambig": "1"}, "config": {}, "inputs": inputs, "shards": 0}
    (out / "manifest.json").write_text(json.dumps(value if key is None else {**new, key: value}))
    try:
        assert check_directory(out, new, force=False)
    except UserError as error:
        assert error.code in ("D311", "D318")
    check_directory(out, new, force=True)


@given(value=ANY, key=st.sampled_from(["documents", "words", "tasks", "seconds", "files", "bad", None]))
def test_no_record_raises_anything(tmp_path_factory, value, key):
    from disambig.jobs import ShardRecord, load_record, record_path, save_record

    out = tmp_path_factory.getbasetemp() / "any-record"
    out.mkdir(exist_ok=True)
    save_record(out, 0, ShardRecord())
    path = record_path(out, 0)
    path.write_text(json.dumps(value if key is None else {**json.loads(path.read_text()), key: value}))
    found = load_record(out, 0)
    assert found is None or (all(isinstance(name, str) for name in found.files) and found.totals.words >= 0)


@pytest.mark.parametrize("name", ["manifest.json", "shards", "shards/00000.json", "part-00000.jsonl"])
@pytest.mark.parametrize("force", [False, True])
def test_directories_where_files_belong_are_a_message(tmp_path, name, force):
    from fake_models import FakeSource

    from disambig.formats import find_inputs, make_format
    from disambig.jobs import run_job

    (tmp_path / "a.txt").write_text("a quite place")
    out = tmp_path / "out"

    def job(*, force=False):
        inputs = find_inputs([str(tmp_path / "a.txt")])
        return run_job(out, inputs, source=FakeSource(), format=make_format("jsonl"), force=force)

    job()
    wrong = out / name
    if wrong.is_dir():
        for file in wrong.iterdir():
            file.unlink()
        wrong.rmdir()
        wrong.write_text("a file where a directory belongs")
    else:
        wrong.unlink()
        (wrong / "inside").mkdir(parents=True)
    with pytest.raises(UserError, match=r"D309|D318"):
        job(force=force)
    assert wrong.exists()


def test_a_name_in_a_record_that_is_no_name_is_none(tmp_path):
    from disambig.jobs import ShardRecord, clear, load_record, save_record

    for files in (["a\0b"], ["x" * 5000], ["/etc/hostname"], ["../up"]):
        save_record(tmp_path, 0, ShardRecord(files={name: (0, "") for name in files}))
        assert load_record(tmp_path, 0) is None
        clear(tmp_path)
    assert Path("/etc").is_dir()
