"""Folders with a converter of our own sentences, a domain, and a model that ranks its candidates again."""

from __future__ import annotations

from disambig_boosted_lasso.kana import Converter, learn_reranker, save_domain
from kana_words import converter, segmented

from disambig.models import save_model

KANA = ["かれははしをわたる。", "ねこはにわでなく。", "こがなく。", "とりがなく。"]
WRITTEN = ["彼は箸を渡る。", "猫は庭で鳴く。", "子が鳴く。", "鳥が鳴く。"]
"""What the language model gets wrong, and the model that ranks again is to put right."""
CHOPSTICKS = """
箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
"""


def folder_of(tmp_path, *, reranker=True, domain=True):
    """Return a folder as `disambig adapt` makes it."""
    home = tmp_path / "mine"
    made = converter()
    made.save(home / "converter")
    if domain:
        mixed = made.adapted(segmented(CHOPSTICKS), weight=0.05)
        save_domain(mixed.model, home / "converter", "eating")
    if reranker:
        made = Converter.load(home / "converter")
        lists = made.nbest(KANA * 10, 20, references=WRITTEN * 10)
        documents = [str(number) for number in range(len(lists))]
        model = learn_reranker(lists, documents, home / "converter", name="my/kana_kanji")
        save_model(model, home / "kana_kanji")
    return home
