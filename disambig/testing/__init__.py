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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
