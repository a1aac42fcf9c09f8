"""Texts after public reports on writing tools raise the flags of the table (see `writing_cases`)."""

import pytest
from writing_cases import Case, raised_flags, read_cases

CASES = read_cases()


@pytest.fixture(scope="module")
def raised() -> dict[str, set[str]]:
    return raised_flags(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_flags_are_those_of_the_table(case: Case, raised: dict[str, set[str]]):
    difference = case.difference(raised[case.id])
    assert not difference, f"{case.text!r}: {difference}"
