from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from commands import here


@pytest.mark.parametrize("missing", ["pygls", "tomlkit"])
def test_without_the_extra_a_line_says_how_to_get_it(monkeypatch, missing):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else real(name, *rest)
    )
    done = here("lsp")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'pygls>=2,<3' 'tomlkit>=0.12'")
    assert "[D840]" in done.stderr


def test_a_port_is_of_tcp():
    done = here("lsp", "--port", "8000")
    assert (done.returncode, "[D848]" in done.stderr) == (2, True)


def test_other_addresses_than_the_loopback_address_cannot_be_asked_for():
    assert here("lsp", "--tcp", "--host", "0.0.0.0").returncode == 2
