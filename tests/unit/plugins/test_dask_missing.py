from __future__ import annotations

import pytest
from commands import here
from disambig_dask import engine


@pytest.fixture(autouse=True)
def without_dask(monkeypatch):
    monkeypatch.setattr(engine, "find_spec", lambda name: None)


def test_the_extra_is_named_where_dask_is_missing(tmp_path):
    (tmp_path / "a.txt").write_text("In it.")
    done = here("annotate", "a.txt", "--engine", "dask", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "disambig: [D850] the engine dask needs the package dask: pip install 'dask[distributed]>=2025.1'\n"
    )
