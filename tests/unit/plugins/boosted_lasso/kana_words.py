"""Sentences segmented by hand, converters that are learned from them, and folders of converters."""

from __future__ import annotations

from disambig_boosted_lasso.kana import (
    Converter,
    ConverterSettings,
    SegmentedText,
    learn_reranker,
    save_domain,
)

from disambig.models import save_model

TEXT = """
私/わたし/代名詞 は/は/助詞 橋/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
私/わたし/代名詞 は/は/助詞 箸/はし/名詞 で/で/助詞 食べる/たべる/動詞 。/。/補助記号
彼/かれ/代名詞 は/は/助詞 橋/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
猫/ねこ/名詞 は/は/助詞 庭/にわ/名詞 に/に/助詞 いる/いる/動詞 。/。/補助記号
鳥/とり/名詞 は/は/助詞 庭/にわ/名詞 で/で/助詞 鳴く/なく/動詞 。/。/補助記号
彼女/かのじょ/代名詞 は/は/助詞 毎日/まいにち/名詞 パン/ぱん/名詞 を/を/助詞 食べる/たべる/動詞 。/。/補助記号
子/こ/名詞 が/が/助詞 泣く/なく/動詞 。/。/補助記号
2008/2008/名詞-数詞 年/ねん/名詞 に/に/助詞 橋/はし/名詞 が/が/助詞 できる/できる/動詞 。/。/補助記号
3/3/名詞-数詞 年/ねん/名詞 の/の/助詞 間/あいだ/名詞 彼/かれ/代名詞 は/は/助詞 泣く/なく/動詞 。/。/補助記号
ABC/ABC/名詞 は/は/助詞 会社/かいしゃ/名詞 だ/だ/助動詞 。/。/補助記号
"""


def sentences(text=TEXT):
    """Return sentences of words: spelling, reading, part of speech."""
    lines = (line.split(" ") for line in text.strip().splitlines())
    return [[tuple(word.split("/")) for word in line] for line in lines]


def segmented(text=TEXT):
    """Return the sentences as columns."""
    return SegmentedText.from_sentences(sentences(text))


def converter(**settings):
    """Return a converter that is learned from the sentences."""
    return Converter.learn(segmented(), settings=ConverterSettings(**{"least": 1, **settings}))


KANA = ["かれははしをわたる。", "ねこはにわでなく。", "こがなく。", "とりがなく。"]
WRITTEN = ["彼は箸を渡る。", "猫は庭で鳴く。", "子が鳴く。", "鳥が鳴く。"]
"""What the language model gets wrong, and the model that ranks again is to put right."""
CHOPSTICKS = """
箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号
"""


def make_folder(tmp_path, *, reranker=True, domain=True):
    """Return a folder like those of `disambig adapt`."""
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
