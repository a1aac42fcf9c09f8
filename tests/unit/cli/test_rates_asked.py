"""What ``--flags-per-1000`` says: one number, or one a task."""

from __future__ import annotations

import pytest
from commands import here

from disambig.cli.options import parse_rates
from disambig.errors import UserError


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        (None, None),
        ([], None),
        (["1.0"], 1.0),
        (["0"], 0.0),
        (["spelling=0.2"], {"spelling": 0.2}),
        (["spelling=0.2,article=0.1"], {"spelling": 0.2, "article": 0.1}),
        (["spelling=0.2", "article = 0.1 "], {"spelling": 0.2, "article": 0.1}),
    ],
)
def test_what_is_asked(values, asked):
    assert parse_rates(values) == asked


@pytest.mark.parametrize(
    ("values", "code", "said"),
    [
        (["many"], "D951", "'many' is not a number"),
        (["spelling="], "D951", "'' is not a number"),
        (["=1"], "D951", "'=1' is not of the form task=number"),
        (["1", "2"], "D951", "'1' is not of the form task=number"),
        (["spelling=1", "2"], "D951", "'2' is not of the form task=number"),
        (["spelling=1", "spelling=2"], "D951", "'spelling' is given twice"),
        (["spelling=1,"], "D951", "'' is not of the form task=number"),
        (["-1"], "D602", "give a number such as 1"),
        (["nan"], "D602", "give a number"),
        (["spelling=inf"], "D602", "give a number"),
    ],
)
def test_what_says_nothing_is_refused(values, code, said):
    with pytest.raises(UserError, match=code) as caught:
        parse_rates(values)
    assert said in str(caught.value)


@pytest.mark.parametrize("command", ["check", "annotate", "explain"])
def test_commands_refuse_it_in_a_line(command, tmp_path):
    (tmp_path / "a.txt").write_text("A quite place.")
    what = "A quite place." if command == "explain" else "a.txt"
    for asked, said in (("much", "D951"), ("gender=1", "D950")):
        done = here(command, what, "--flags-per-1000", asked, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_one_number_is_shared_and_one_a_task_leaves_others_alone(tmp_path):
    """The models that ship do not know their gains yet, or do: what they get adds up to what is asked."""
    told = here("explain", "A quite place.", "--flags-per-1000", "1.5").stdout.splitlines()
    rates = [float(line.rpartition(", ")[2].split()[0]) for line in told if "flags per 1,000 words)" in line]
    assert len(rates) > 1 and sum(rates) == pytest.approx(1.5)
    told = here("explain", "A quite place.", "--flags-per-1000", "spelling=0.25").stdout
    assert "0.25 flags per 1,000 words)" in told
    none = here("explain", "A quite place.", "--flags-per-1000", "spelling=0", "--task", "spelling").stdout
    assert "0 flags per 1,000 words)" in none
