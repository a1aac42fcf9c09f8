"""Folds of whole domains: what is fitted on them holds for text of another kind."""

from __future__ import annotations

import numpy as np

from disambig.training import whole_domains


def test_domains_stay_whole_and_folds_are_about_equal():
    domains = ["a"] * 6 + ["b"] * 3 + ["c"] * 3 + ["d"] * 2
    folds = whole_domains(domains, np.arange(14), 3)
    assert len({(d, f) for d, f in zip(domains, folds.tolist(), strict=True)}) == 4
    assert sorted(np.bincount(folds).tolist()) == [3, 5, 6]


def test_there_are_none_where_domains_are_too_few_unknown_or_share_documents():
    documents = np.arange(4)
    assert whole_domains(["a", "b", "a", "b"], documents, 3) is None
    assert whole_domains(["a", "b", "c", ""], documents, 3) is None
    assert whole_domains(["a", "b", "c", "a"], np.array([0, 1, 2, 1]), 3) is None
    assert whole_domains(["a", "b", "c", "a"], documents, 1) is None
