"""Rates and times left, for people."""

from __future__ import annotations

import pytest

from disambig.cli.progress import ProgressRate, format_duration, format_size


def test_the_rate_leaves_out_the_start_up():
    now = iter([0.0, 100.0, 101.0, 103.0])
    pace = ProgressRate("annotating", "B", clock=lambda: next(now))
    pace.report(0, 4_000_000)
    assert (pace.rate(), pace.state()) == (None, "0 B of 4.0 MB")
    pace.report(1_000_000, 4_000_000)  # after a start of 100 seconds
    assert pace.left() is None
    pace.report(2_000_000, 4_000_000)
    assert pace.line() == "annotating: 2.0 MB of 4.0 MB, 1.0 MB/s, 2 s left"
    pace.report(4_000_000, 4_000_000)
    assert pace.left() == 0.0


def test_one_piece_of_work_has_no_numbers():
    pace = ProgressRate("fitting extractors")
    pace.report(0, 1)
    assert pace.line() == "fitting extractors"
    pace = ProgressRate("learning")
    pace.report(3, 40)
    assert pace.line() == "learning: 3 of 40"


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 B"), (999, "999 B"), (1234, "1.2 kB"), (45_600, "46 kB"), (2.5e9, "2.5 GB")]
)
def test_sizes(number, shown):
    assert format_size(number) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (7300, "2 h 02 min")]
)
def test_durations(seconds, shown):
    assert format_duration(seconds) == shown
