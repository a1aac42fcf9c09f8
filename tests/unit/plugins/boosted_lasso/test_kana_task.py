"""The task of kana and kanji: a reranker is trained from a converter's lists, and used on others."""

from __future__ import annotations

import pytest
from disambig_boosted_lasso.kana import KanaKanji
from kana_words import converter

from disambig.config import resolve
from disambig.errors import UserError
from disambig.models import decide_lists
from disambig.testing import check_task
from disambig.training import train_candidates

WRITTEN = ["彼は箸を渡る。", "猫は庭で鳴く。", "子が鳴く。", "鳥が鳴く。"]
KANA = ["かれははしをわたる。", "ねこはにわでなく。", "こがなく。", "とりがなく。"]
CONFIG = {
    "task": {"@disambig_tasks": "boosted_lasso.KanaKanji.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "source": {"@disambig_extractors": "disambig.SourceFeatures.v1"},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1"},
    },
    "learner": {"@disambig_learners": "boosted_lasso.Boosting.v1"},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}


def test_the_contract():
    for check in check_task(KanaKanji(), ["ははは。", ""]):
        check()


def test_a_k_that_is_none():
    with pytest.raises(UserError, match="D675"):
        KanaKanji(k=0)
    with pytest.raises(UserError, match="D674"):
        KanaKanji().lists(["はし"])


def test_a_reranker_learns_what_the_language_model_gets_wrong(tmp_path):
    converter().save(tmp_path / "converter")
    lists = KanaKanji(str(tmp_path / "converter")).lists(KANA * 10, references=WRITTEN * 10)
    parts = resolve(CONFIG)
    model = train_candidates(parts, lists, [str(i) for i in range(len(lists))], name="my/conversions")
    decided = decide_lists(model, lists)
    before = lists.costs[lists.offsets[:-1]].sum()
    after = lists.costs[lists.offsets[:-1] + decided.chosen].sum()
    assert before > 0
    assert after < before / 2
