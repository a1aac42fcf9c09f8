"""The labelled examples of *it*, as the plugin reads them."""

from __future__ import annotations

from disambig_variance_svm.it.corpora import ewt, qa_it

__all__ = ["ewt", "qa_it"]
