from __future__ import annotations

from itertools import chain

import pytest

from disambig.jobs import InProcessRunner, local_runner
from disambig.testing import check_runner

CHECKS = [
    *chain(
        (("here", check) for check in check_runner(lambda timeout: InProcessRunner(), processes=False)),
        (("two", check) for check in check_runner(lambda timeout: local_runner(2, timeout=timeout))),
    )
]


@pytest.mark.parametrize(("where", "check"), CHECKS, ids=lambda value: str(value))
def test_the_runners_of_this_machine_keep_the_contract(where, check):
    check()
