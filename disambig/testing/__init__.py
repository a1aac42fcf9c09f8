"""Contract checks for authors of plugins: tasks, extractors, kernels, learners and other entries.

Each function returns a list of checks, pairs of a name and a function without arguments that raises
`AssertionError` if the contract is broken. Three lines turn them into separate pytest tests, so that
``pytest -k repeatable`` selects one::

    import pytest
    from disambig.testing import check_learner
    from my_plugin import MyLearner

    @pytest.mark.parametrize("check", check_learner(MyLearner()), ids=str)
    def test_my_learner(check):
        check()

Without pytest: ``for check in check_task(MyTask(), texts): check()``.

This package contains no tests of disambig itself and does not depend on any plugin.
"""

from disambig.testing.checks import (
    Check,
    blocks,
    chains,
    check_standalone,
    crossed,
    crossed_lists,
    dense_lists,
    lists,
    make_calibration_data,
)
from disambig.testing.components import (
    check_extractor,
    check_kernel,
    check_learner,
    check_task,
    check_tokenisation,
)
from disambig.testing.decisions import check_batch, check_decoder, check_judge, check_measure, outcomes
from disambig.testing.jobs import check_reader, check_runner

__all__ = [
    "Check",
    "blocks",
    "chains",
    "check_batch",
    "check_decoder",
    "check_extractor",
    "check_judge",
    "check_kernel",
    "check_learner",
    "check_measure",
    "check_reader",
    "check_runner",
    "check_standalone",
    "check_task",
    "check_tokenisation",
    "crossed",
    "crossed_lists",
    "dense_lists",
    "lists",
    "make_calibration_data",
    "outcomes",
]
