"""Checks for people who write plugins: whether a task, extractor, kernel, ... keeps its contract.

Each function returns a list of checks, pairs of a name and a function without arguments that raises
`AssertionError` where the contract is broken. Three lines make them tests of their own in pytest,
so that ``pytest -k repeatable`` picks one::

    import pytest
    from disambig.testing import check_learner
    from my_plugin import MyLearner

    @pytest.mark.parametrize("check", check_learner(MyLearner()), ids=str)
    def test_my_learner(check):
        check()

Without pytest: ``for check in check_task(MyTask(), texts): check()``.

No test of disambig's own lives here, and nothing here knows a plugin.
"""

from disambig.testing.batches import check_batch
from disambig.testing.checks import Check
from disambig.testing.decoders import check_decoder
from disambig.testing.extractors import check_extractor
from disambig.testing.judges import check_judge
from disambig.testing.kernel_checks import check_kernel
from disambig.testing.learners import check_learner
from disambig.testing.material import material
from disambig.testing.measures import check_measure, outcomes
from disambig.testing.problems import blocks, chains, crossed, crossed_lists, dense_lists, lists
from disambig.testing.readers import check_reader
from disambig.testing.runners import check_runner
from disambig.testing.tasks import check_task

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
    "check_task",
    "crossed",
    "crossed_lists",
    "dense_lists",
    "lists",
    "material",
    "outcomes",
]
