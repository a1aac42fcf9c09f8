"""An extractor that stands for several is the first of them by itself."""

from __future__ import annotations

import pytest

from disambig.errors import UserError
from disambig.features import ExtractorChoice, Tfidf
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor

CHECKS = check_extractor(
    ExtractorChoice({"words": Tfidf(around="document"), "kept": Tfidf(around="document", kept=3)}),
    OwnCandidates(candidates=["bring", "take"]),
    ["Take it home.", "They bring it, and take it.", "Nothing here.", ""],
)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_contract(check):
    check()


def test_there_are_two_at_least():
    assert ExtractorChoice({"a": Tfidf(kept=2), "b": Tfidf(kept=1)}).first.kept == 2
    with pytest.raises(UserError, match="D518"):
        ExtractorChoice({"a": Tfidf()})
