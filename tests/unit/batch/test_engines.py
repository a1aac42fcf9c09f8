from __future__ import annotations

import pytest

from disambig.errors import UserError
from disambig.jobs import EngineOptions, InProcessRunner, ProcessRunner, make_runner


def test_the_engine_of_this_machine():
    assert make_runner() == InProcessRunner()
    assert make_runner("local", EngineOptions(3)) == ProcessRunner(3)
    assert make_runner("disambig.local.v1", EngineOptions(1, timeout=2.5)) == ProcessRunner(1, 2.5)


def test_what_a_plugin_brings_is_found_by_the_middle_of_its_name(load_with, monkeypatch, tmp_path):
    source = (
        "from disambig.api import hookimpl\n"
        "@hookimpl\n"
        "def disambig_register_runners(register):\n"
        "    for number in (1, 2, 10):\n"
        "        register(f'engines.there.v{number}', lambda options, n=number: (n, options))\n"
        "    register('engines.local.v1', lambda options: 'not reached by its short name')\n"
    )
    (tmp_path / "engines_of_a_test.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    load_with(engines="engines_of_a_test")
    options = EngineOptions(2, "somewhere")
    assert make_runner("there", options) == (10, options)
    assert make_runner("engines.there.v1", options) == (1, options)
    assert make_runner("local") == InProcessRunner()
    with pytest.raises(UserError, match=r"D851.*'ther'; available: there"):
        make_runner("ther")


def test_what_makes_no_sense_is_said():
    with pytest.raises(UserError, match=r"D852.*tcp://a:1"):
        make_runner("local", EngineOptions(1, "tcp://a:1"))
    for wrong in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UserError, match="D859"):
            EngineOptions(timeout=wrong)
