"""The converter: kana to the k best texts; its settings, and its folder, which is checked when read."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError, nearest_first
from disambig.api.arrays import HEADER, ArrayFolder, digest_arrays, offsets_from_sizes, row_owners
from disambig.api.language_models import (
    LanguageModel,
    Mixture,
    Sentences,
    WordVocabulary,
    estimate,
    load_language_model,
    load_mixture,
    save_language_model,
    save_mixture,
    sentence_scores,
)
from disambig.api.measures import measure_named, text_costs
from disambig.api.packs import restore, saved_folder, writing
from disambig.api.settings import whole_number_between
from disambig.api.tasks import CandidateLists

from .characters import (
    LETTERS,
    code_points,
    has_kanji,
    hiragana_number,
    is_kana,
    learn_spelling,
    normalise_kana,
    pack_texts,
    unpack_texts,
)
from .class_bigram import ClassBigram, load_class_bigram, save_class_bigram
from .decoding import (
    ENTRY,
    CandidateWriter,
    LatticeDecoder,
    LatticePaths,
    LexiconTables,
    build_ngram_tables,
    split_line,
)
from .lexicon import (
    LONGEST,
    NUMBERS,
    KanaLexicon,
    ReadingTrie,
    language_model_word,
    unseen_weights,
    voiced_alike,
)
from .segmentation import SegmentedText
from .spoken_numbers import NUMERALS

UNITS = ("spelling", "pair")


@dataclass(frozen=True, slots=True)
class ConverterSettings:
    """Settings for making a converter from text.

    Raises D671 for an invalid unit, D675 for other invalid values.

    Parameters
    ----------
    mode : str
        Word length in segmented text (`segmentation.segment_lines`); text for adaptation uses the same mode.
    unit : str
        Unit of the language model: the ``"spelling"`` regardless of its reading (as in the paper), or
        the ``"pair"`` of spelling and reading.
    weighed : bool
        With spellings: whether P(reading | spelling) is included; the paper has P(A | W) = 1.
    least : int
        Words with fewer occurrences in the text are unknown to the language model, which thus learns the
        contexts of unknown words; the lexicon contains all words.
    unknown : four numbers
        Shares of an unknown word's probability: any hiragana, any katakana, words of the lexicon
        that the language model does not know, and words of a dictionary.
    numbers : str
        How numbers spelt out in kana (`spoken_numbers`) are preferably written: ``"kanji"`` or ``"digits"``;
        ``"words"`` treats them as any other words of the lexicon.
    margin : float, optional
        Beginnings of a conversion whose ln P is less than the best one's of the same kana by more than this
        are not continued (beam search). By default all are: decoding is exact.
    """

    mode: str = "A"
    unit: str = "pair"
    weighed: bool = True
    least: int = 2
    unknown: Sequence[float] = (0.02, 0.08, 0.3, 0.6)
    numbers: str = "kanji"
    margin: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "unknown", tuple(self.unknown))
        if self.unit not in UNITS:
            raise UserError("D671", setting="unit", value=self.unit, names=", ".join(UNITS))
        if self.numbers not in NUMERALS:
            raise UserError("D671", setting="numbers", value=self.numbers, names=", ".join(NUMERALS))
        if self.margin is not None and not self.margin > 0:
            raise UserError("D675", setting="margin", value=self.margin, wanted="a number above 0")
        if self.least < 1:
            raise UserError("D675", setting="least", value=self.least, wanted="a whole number of at least 1")
        shares = list(self.unknown)
        if len(shares) != 4 or min(shares, default=0) <= 0 or sum(shares) > 1.0 + 1e-9:
            wanted = "four numbers above 0 that add up to one at most"
            raise UserError("D675", setting="unknown", value=self.unknown, wanted=wanted)

    def language_model_unit(self, surface: str, reading: str) -> str:
        """Return the language model's unit for a word."""
        word = language_model_word(surface)
        if self.unit == "spelling" or word != surface or not has_kanji(surface):
            return word
        return f"{surface}/{reading}"


UNKNOWN = 0
HIRAGANA, KATAKANA = -1, -2
"""Kinds of unknown words, as in `_lattice_kernels`."""
OTHER_READING = 0.01
"""Share of a known word's probability for a dictionary word with the same spelling and another reading."""


def build_lexicon_tables(
    lexicon: KanaLexicon,
    vocabulary: Any,
    spelling: NDArray[np.float64],
    settings: ConverterSettings,
) -> tuple[LexiconTables, NDArray[np.int32]]:
    """Return the tables of a lexicon, and its entries in their order.

    `spelling` has the shape (2, 88, 88) (see `learn_spelling`). The share of unknown words in the settings is
    divided among entries in text that the language model does not know, by their counts, and among dictionary
    entries, by their kind; all are multiplied by their usage.
    """
    from ._lattice_kernels import hash_texts

    pairs = zip(lexicon.surfaces, lexicon.readings, strict=True)
    ids = vocabulary.word_ids(settings.language_model_unit(surface, reading) for surface, reading in pairs)
    others = _other_readings(lexicon, ids) if settings.unit == "pair" else np.zeros(0, np.int64)
    extras = _log_shares(lexicon, ids == UNKNOWN, settings)
    # A reading that is rare in the other text as well loses to plain words.
    rare = 0.0 if lexicon.usage is None else np.minimum(lexicon.usage[others], 0.0)
    extras[others] = np.log(OTHER_READING) + rare
    added, originals = voiced_alike(lexicon)
    ids[added], extras[added] = ids[originals], extras[originals]
    ranks = np.lexsort((-extras, ids == UNKNOWN))
    trie = ReadingTrie.from_readings([lexicon.readings[i] for i in ranks.tolist()])
    order = ranks[trie.entries].astype(np.int32)
    codes, offsets = code_points("".join(lexicon.surfaces)), offsets_from_sizes(map(len, lexicon.surfaces))
    hashes, powers = np.zeros((2, len(lexicon)), np.uint64)
    hash_texts(codes, offsets.astype(np.int64), hashes, powers)
    entries = np.zeros(len(lexicon), ENTRY)
    entries["word"], entries["extra"], entries["hash"], entries["power"] = ids, extras, hashes, powers
    numbers = vocabulary.word_ids(NUMBERS)
    numbers[0] = UNKNOWN
    deepest = max(LONGEST, max(map(len, lexicon.readings), default=0))
    margin = np.inf if settings.margin is None else settings.margin
    limits = np.array([LONGEST], np.int64), np.array([deepest], np.int64), np.array([margin])
    arcs = trie.begins, trie.labels, trie.entry_begins
    return LexiconTables(*arcs, entries[order], numbers, spelling, *limits), order


def _other_readings(lexicon: KanaLexicon, known_ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Give dictionary words the number of the same spelling in text with another reading, and return them.

    They may occur in the text, too, since its readings were assigned by a program.
    """
    first: dict[str, int] = {}
    for row in np.flatnonzero(known_ids != UNKNOWN).tolist():
        # entries are sorted by frequency, so the first is the most frequent
        first.setdefault(lexicon.surfaces[row], row)
    rows = np.flatnonzero((known_ids == UNKNOWN) & (lexicon.counts == 0)).tolist()
    others = [row for row in rows if lexicon.surfaces[row] in first]
    known_ids[others] = known_ids[[first[lexicon.surfaces[row]] for row in others]]
    return np.array(others, np.int64)


def _log_shares(
    lexicon: KanaLexicon, unknown: NDArray[np.bool_], settings: ConverterSettings
) -> NDArray[np.float64]:
    """Return ln of each entry's share of its word's probability."""
    weighed = settings.weighed and settings.unit == "spelling"
    extras = np.log(lexicon.shares) if weighed else np.zeros(len(lexicon))
    text_share, dictionary_share = settings.unknown[2:]
    seen, unseen = unknown & (lexicon.counts > 0), unknown & (lexicon.counts == 0)
    extras[seen] = np.log(text_share * lexicon.counts[seen] / max(lexicon.counts[seen].sum(), 1))
    weights = unseen_weights(lexicon)[unseen]
    extras[unseen] = np.log(dictionary_share * weights / max(weights.sum(), 1e-9))
    return extras if lexicon.usage is None else extras + lexicon.usage


FORMAT = "disambig.kana_converter.v2"
N_CANDIDATES = whole_number_between(1, 1000, "D675")
RANKED = 12
"""Minimum number of candidates that the class bigram ranks; twenty give the same results."""
RARE = 2
"""Kana words with at most this count train the spelling model of unknown words."""


@dataclass(frozen=True, eq=False)
class Converter:
    """Converts kana to kanji with a lexicon and a language model of words; `learn` makes one from text.

    Kana without matching entries is written as hiragana or katakana, and other characters are unchanged, so
    every line has a conversion. Half-width kana and katakana are read as hiragana. A line longer than
    `decoding.LONGEST` is converted in pieces.

    Attributes
    ----------
    lexicon : KanaLexicon
    model : LanguageModel or Mixture
        Language model of the words of the lexicon, or of the frequent ones.
    spelling : array of float64, shape (2, 88, 88)
        Letter model of unknown words (`learn_spelling`).
    settings : ConverterSettings
    classes : ClassBigram, optional
        Ranks the candidates of a line again, together with the language model.
    """

    formats: ClassVar[tuple[str, ...]] = (FORMAT,)
    language: ClassVar[str] = "ja"
    lexicon: KanaLexicon
    model: LanguageModel | Mixture
    spelling: NDArray[np.float64]
    settings: ConverterSettings = field(default_factory=ConverterSettings)
    classes: ClassBigram | None = None

    @classmethod
    def learn(
        cls,
        text: SegmentedText,
        *,
        settings: ConverterSettings | None = None,
        dictionary: KanaLexicon | None = None,
        **estimation: Any,
    ) -> Converter:
        """Return a converter trained on some text.

        Parameters
        ----------
        text : SegmentedText
        settings : ConverterSettings, optional
        dictionary : KanaLexicon, optional
            Additional words.
        **estimation
            See `estimate`, for example ``min_counts``; the order is 3.

        Raises
        ------
        UserError
            D676 for text without words.
        """
        settings = settings or ConverterSettings()
        if not len(text.ids):
            raise UserError("D676")
        lexicon = KanaLexicon.from_text(text)
        counts = _count_units(text, settings)
        words = (unit for unit, count in counts.most_common() if count >= settings.least)
        vocabulary = WordVocabulary.from_words([*NUMBERS[1:], *words])
        model = estimate(language_model_sentences(text, vocabulary, settings), vocabulary, **estimation)
        rare = (
            surface for surface, count in zip(lexicon.surfaces, lexicon.counts, strict=True) if count <= RARE
        )
        hiragana, katakana, *_ = settings.unknown
        spelling = learn_spelling(filter(is_kana, rare), shares=(hiragana, katakana))
        return cls(
            lexicon if dictionary is None else lexicon.with_more(dictionary), model, spelling, settings
        )

    def adapted(
        self,
        text: SegmentedText,
        *,
        weight: float | None = None,
        held_out: SegmentedText | None = None,
        minimum: int | None = None,
        **estimation: Any,
    ) -> Converter:
        """Return a converter with the words of both texts and a mixture of their language models.

        MAP interpolation (Gao, Suzuki and Yu 2006, section 5.2).

        Parameters
        ----------
        text : SegmentedText
            Segmented as the settings require.
        weight : float, optional
            Weight of this converter's model; by default the one that maximises the probability of `held_out`
            or, without that, of every tenth sentence of `text`.
        held_out : SegmentedText, optional
        minimum : int, optional
            Frequency in `text` below which a new word counts as unknown in the language model; by default
            that of the settings. With 1, the model of `text` contains no unknown word, so that the mixture
            makes all other unknown words much less probable, and conversions can get worse.
        **estimation
            See `estimate`.

        Raises
        ------
        UserError
            D676 for text without words.
        """
        if not len(text.ids):
            raise UserError("D676")
        background = self.background
        minimum = self.settings.least if minimum is None else minimum
        counts = _count_units(text, self.settings)
        vocabulary = background.vocabulary.extended(
            unit for unit, count in counts.items() if count >= minimum
        )
        sentences = language_model_sentences(text, vocabulary, self.settings)
        if weight is None and held_out is None:
            # the weight must be chosen on unseen sentences; the final model then learns from all of them
            apart = np.arange(len(sentences)) % 10 == 9
            tuned = sentences.take(np.flatnonzero(apart))
            if not len(tuned.ids):
                raise UserError("D676")
            learned = estimate(sentences.take(np.flatnonzero(~apart)), vocabulary, **estimation)
            weight = Mixture(background, learned, 0.5).best_weight(tuned)
        model = Mixture(
            background, estimate(sentences, vocabulary, **estimation), 0.5 if weight is None else weight
        )
        if weight is None and held_out is not None:
            tuned = language_model_sentences(held_out, vocabulary, self.settings)
            model = model.reweighted(model.best_weight(tuned))
        return replace(self, lexicon=self.lexicon.with_more(KanaLexicon.from_text(text)), model=model)

    @property
    def background(self) -> LanguageModel:
        """The language model; of a mixture the original component."""
        return self.model.background if isinstance(self.model, Mixture) else self.model

    def nbest(
        self, lines: Sequence[str], k: int = 20, *, references: Sequence[str] | None = None
    ) -> CandidateLists:
        """Return up to k best conversions of each line, the best first.

        Parameters
        ----------
        lines : sequence of str
            Kana; an empty line has one candidate, the empty text.
        k : int
            1 to 1,000.
        references : sequence of str, optional
            Expected output of each line: costs are then character edits, otherwise NaN.

        Returns
        -------
        CandidateLists
            Texts without duplicates in a list; ln P as scores, of the language model or of both models, whose
            logarithms are added with the weight of `classes`; words with their parts of speech.

        Raises
        ------
        UserError
            D675 for an invalid k, D677 for a string instead of a sequence of lines.
        ValueError
            If the number of references differs from that of the lines.
        """
        if isinstance(lines, str):
            raise UserError("D677", value=lines[:40])
        N_CANDIDATES.check("k", k)
        if references is not None and len(references) != len(lines):
            raise ValueError(f"{len(references)} references for {len(lines)} lines")
        kana = [normalise_kana(line) for line in lines]
        pieces = [split_line(line) for line in kana]
        counts = [len(line) for line in pieces]
        paths = self._paths([piece for line in pieces for piece in line], int(k))
        lists = self._writer.lists(_shift_offsets(paths, pieces), counts, kana, int(k))
        if references is None:
            return lists
        line_of_candidate = row_owners(lists.offsets).tolist()
        costs = text_costs(
            measure_named("cer"), list(lists.texts), [references[i] for i in line_of_candidate]
        )
        return replace(lists, costs=costs)

    def _paths(self, pieces: Sequence[str], k: int) -> LatticePaths:
        if self.classes is None:
            return self._decoder.paths(pieces, k)
        paths = self._decoder.paths(pieces, max(k, RANKED))
        words = self._writer.words(paths, pieces)
        scores = paths.scores + self.classes.weight * self.classes.log_probs(pieces, paths, words)
        return paths.reranked(scores, k)

    def save(self, folder: str | Path, *, bits: int = 32) -> None:
        """Write the converter into a folder; see `save_converter`."""
        save_converter(self, folder, bits=bits)

    @classmethod
    def load(cls, folder: str | Path) -> Converter:
        """Read the converter in a folder; see `load_converter`."""
        return load_converter(folder)

    def __repr__(self) -> str:
        """Return the description: arrays would fill the screen."""
        return f"<{self.describe()}>"

    def describe(self) -> str:
        """Return what the converter is and how large it is."""
        words = len(self.background.vocabulary)
        return f"kana-to-kanji converter: {len(self.lexicon):,} entries, language model of {words:,} words"

    def best(self, lines: Sequence[str]) -> list[str]:
        """Return the best conversion of each line."""
        return list(self.nbest(lines, 1).texts)

    def records(self, texts: Sequence[str], *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        """Return the lines of each text with their conversions, as in ``disambig convert --format jsonl``."""
        from .conversion import Conversion, line_record

        lines = [text.splitlines() for text in texts]
        lists = iter(Conversion(self).nbest(list(chain.from_iterable(lines)), n_best))
        return [[line_record(line, next(lists)) for line in text_lines] for text_lines in lines]

    def nbest_and_scores(
        self, other: Converter, lines: Sequence[str], k: int = 20
    ) -> tuple[CandidateLists, NDArray[np.float64]]:
        """Return the k best conversions of each line, and ln P of their words by another converter.

        Both converters have the same settings, and the other one has all words of this one's lexicon. Lines
        that are converted in pieces (`decoding.LONGEST`) get this converter's scores.

        Raises ValueError if numbers spelt out in kana are looked for, since they are not in the lexicon, or
        if a class bigram ranks the candidates.
        """
        if self.classes is not None:
            raise ValueError("candidates are ranked with a class bigram")
        if self.settings.numbers != "words":
            raise ValueError(f"numbers are {self.settings.numbers!r}, not 'words'")
        lists = self.nbest(lines, k)
        kana = [normalise_kana(line) for line in lines]
        whole = [i for i, line in enumerate(kana) if line and len(split_line(line)) == 1]
        paths = self._decoder.paths([kana[i] for i in whole], k)
        ids, extras = self._words_by(other, paths, [kana[i] for i in whole])
        by_other = sentence_scores(other.model, Sentences(ids, paths.word_offsets))
        by_other += np.add.reduceat(extras, paths.word_offsets[:-1]) if len(extras) else 0.0
        scores = lists.scores.astype(np.float64)
        for row, line in enumerate(whole):
            first, last = paths.offsets[row : row + 2]
            scores[lists.offsets[line] : lists.offsets[line + 1]] = by_other[first:last]
        return lists, scores

    def _words_by(
        self, other: Converter, paths: LatticePaths, lines: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the words of paths in another converter's language model, and ln of their factors."""
        (tables, order), (_, own_order) = other._tables, self._tables
        pairs = zip(other.lexicon.readings, other.lexicon.surfaces, strict=True)
        row_of = {pair: row for row, pair in enumerate(pairs)}
        place_of_row = np.empty(len(order), np.int64)
        place_of_row[order] = np.arange(len(order))
        kinds = paths.words["kind"]
        ids, extras = np.zeros(len(kinds), np.int32), np.zeros(len(kinds))
        distinct, at = np.unique(kinds[kinds >= 0], return_inverse=True)
        rows = own_order[distinct].tolist()
        pairs_of = [(self.lexicon.readings[row], self.lexicon.surfaces[row]) for row in rows]
        places = place_of_row[[row_of[pair] for pair in pairs_of]][at] if rows else np.zeros(0, np.int64)
        ids[kinds >= 0], extras[kinds >= 0] = tables.entries["word"][places], tables.entries["extra"][places]
        line_of = row_owners(paths.offsets)[row_owners(paths.word_offsets)]
        for word in np.flatnonzero(kinds < 0).tolist():
            kind, start, end = paths.words[word].tolist()
            text = lines[line_of[word]][start:end]
            if kind in (HIRAGANA, KATAKANA):
                letters = [hiragana_number(letter) for letter in text]
                pairs_of_letters = zip([0, *letters], [*letters, 0], strict=True)
                extras[word] = sum(other.spelling[int(kind == KATAKANA), a, b] for a, b in pairs_of_letters)
            else:
                digits = sum(character.isdigit() for character in text)
                ids[word] = tables.numbers[min(digits, len(tables.numbers) - 1)]
        return ids, extras

    @cached_property
    def _tables(self) -> Any:
        return build_lexicon_tables(self.lexicon, self.model.vocabulary, self.spelling, self.settings)

    @cached_property
    def _decoder(self) -> LatticeDecoder:
        if isinstance(self.model, Mixture):
            with np.errstate(divide="ignore"):  # a weight may be zero
                logs = np.log([self.model.weight, 1.0 - self.model.weight]).tolist()
            levels = [(self.model.background.levels, logs[0]), (self.model.adaptation.levels, logs[1])]
        else:
            levels = [(self.model.levels, 0.0)]
        return LatticeDecoder(
            build_ngram_tables(levels, len(self.model.vocabulary)),
            self._tables[0],
            numbers=NUMERALS[self.settings.numbers],
        )

    @cached_property
    def _writer(self) -> CandidateWriter:
        return CandidateWriter(self.lexicon, self._tables[1])


def language_model_sentences(
    text: SegmentedText, vocabulary: WordVocabulary, settings: ConverterSettings
) -> Sentences:
    """Return segmented text as sentences of a language model."""
    numbers = vocabulary.word_ids(_units(text, settings))
    return Sentences(numbers[text.ids].astype(np.int32), text.offsets)


def _units(text: SegmentedText, settings: ConverterSettings) -> list[str]:
    """Return the unit of the language model for each entry of a text."""
    return [settings.language_model_unit(surface, reading) for surface, reading, _ in text.entries]


def _count_units(text: SegmentedText, settings: ConverterSettings) -> Counter[str]:
    """Return how often each unit of the language model occurs in a text."""
    counts: Counter[str] = Counter()
    occurrences = np.bincount(text.ids, minlength=len(text.entries)).tolist()
    for unit, count in zip(_units(text, settings), occurrences, strict=True):
        counts[unit] += count
    return counts


def _shift_offsets(paths: LatticePaths, pieces: Sequence[Sequence[str]]) -> LatticePaths:
    """Return paths whose words have offsets in their line instead of their piece."""
    if all(len(line) == 1 for line in pieces):
        return paths
    starts = [sum(map(len, line[:i])) for line in pieces for i in range(len(line))]
    sizes = np.diff(paths.word_offsets)
    shift = np.repeat(np.repeat(starts, np.diff(paths.offsets)), sizes)
    words = paths.words.copy()
    words["start"] += shift
    words["end"] += shift
    return replace(paths, words=words)


FILE = "lexicon.npz"
MODEL, ADAPTATION, CLASSES, DOMAINS = "model", "adaptation", "classes", "domains"
_NAMES = ("readings", "surfaces", "tags", "counts", "usage", "spelling")
_FOLDER = ArrayFolder(FILE, _NAMES, "D674", FORMAT)


def save_converter(converter: Converter, folder: str | Path, *, bits: int = 32) -> None:
    """Write a converter atomically into a folder, which is created if necessary.

    Raises D697 for a folder with other contents, D309 if it cannot be written.

    A converter there is replaced, including its domains. `bits`, 8 or 32, is the precision of the language
    model's logarithms.
    """
    folder = Path(folder)
    with writing(folder):
        others = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in others if name not in (HEADER, FILE, MODEL, ADAPTATION, CLASSES, DOMAINS)]
    if others:
        raise UserError("D697", path=folder, found=others[0])
    with saved_folder(folder) as draft, writing(folder):
        _write(converter, draft, bits)
        if list_domains(folder) and _has_same_fingerprint(folder, draft):
            shutil.copytree(folder / DOMAINS, draft / DOMAINS)


def _write(converter: Converter, folder: Path, bits: int) -> None:
    """Write a converter into an empty folder; numbers of language models have `bits` bits."""
    lexicon, model = converter.lexicon, converter.model
    background = converter.background
    save_language_model(background, folder / MODEL, bits=bits)
    if isinstance(model, Mixture):
        save_mixture(model, folder / ADAPTATION, bits=bits)
    if converter.classes is not None:
        save_class_bigram(converter.classes, folder / CLASSES)
    arrays: dict[str, NDArray[Any]] = {
        "readings": pack_texts(lexicon.readings),
        "surfaces": pack_texts(lexicon.surfaces),
        "tags": lexicon.tags,
        "counts": lexicon.counts,
        "usage": np.zeros(0, np.float16) if lexicon.usage is None else _round_usage(lexicon.usage),
        "spelling": converter.spelling,
    }
    header = {
        "settings": asdict(converter.settings),
        "entries": len(lexicon),
        "tags": list(lexicon.tag_names),
        "mixture": isinstance(model, Mixture),
        "classes": converter.classes is not None,
        "words": digest_arrays({"letters": background.vocabulary.spellings.letters}),
    }
    _FOLDER.write(folder, header, arrays)


def load_converter(folder: str | Path) -> Converter:
    """Read the converter in a folder.

    Raises D674, or D655 for its language model, if a file is missing, damaged or not from this program.
    """
    folder = Path(folder)
    with suppress(OSError):
        restore(folder)
    header, arrays = _FOLDER.read(folder)
    try:
        settings = ConverterSettings(**header["settings"])
        lexicon = _lexicon(arrays, header["tags"])
        spelling = arrays["spelling"].astype(np.float64)
        if spelling.shape != (2, LETTERS, LETTERS):
            raise ValueError(f"spelling has the shape {spelling.shape}")
        mixture = bool(header["mixture"])
        has_classes = bool(header.get("classes"))  # written since there are class bigrams
    except UserError as error:
        raise UserError("D674", path=folder, problem=error.text) from None
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UserError("D674", path=folder, problem=error) from None
    background = load_language_model(folder / MODEL)
    if header.get("words") != digest_arrays({"letters": background.vocabulary.spellings.letters}):
        raise UserError("D674", path=folder, problem="its language model belongs to another converter")
    model = load_mixture(folder / ADAPTATION, background) if mixture else background
    classes = load_class_bigram(folder / CLASSES) if has_classes else None
    return Converter(lexicon, model, spelling, settings, classes)


def is_converter(folder: str | Path) -> bool:
    """Return True if a folder contains a converter, or the files of one."""
    return _FOLDER.is_in(Path(folder))


def converter_fingerprint(folder: str | Path) -> str:
    """Return a fingerprint that identifies a converter, regardless of its domains.

    Raises D674 if there is no converter.
    """
    folder = Path(folder)
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf8"))
        parts = [MODEL, *([ADAPTATION, f"{ADAPTATION}/{ADAPTATION}"] if header["mixture"] else [])]
        parts += [CLASSES] if header.get("classes") else []
        digests = [header["digest"], json.dumps(header["settings"], sort_keys=True)]
        for part in parts:
            part_header = json.loads((folder / part / HEADER).read_text(encoding="utf8"))
            digests.append(part_header.get("digest", ""))
        if header["mixture"]:
            digests.append(hashlib.sha256((folder / ADAPTATION / "mixture.npz").read_bytes()).hexdigest())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError("D674", path=folder, problem=error) from None
    return hashlib.sha256("\n".join(map(str, digests)).encode()).hexdigest()


def _has_same_fingerprint(one: Path, other: Path) -> bool:
    """Return True if two folders contain the same converter; a damaged one equals none."""
    try:
        return converter_fingerprint(one) == converter_fingerprint(other)
    except UserError:
        return False


def save_domain(mixture: Mixture, folder: str | Path, name: str, *, bits: int = 32) -> None:
    """Write the language model that the converter in a folder mixes in for a domain."""
    save_mixture(mixture, Path(folder) / DOMAINS / name, bits=bits)


def list_domains(folder: str | Path) -> list[str]:
    """Return the sorted names of the domains of the converter in a folder."""
    return sorted(path.name for path in (Path(folder) / DOMAINS).glob("*") if path.is_dir())


def load_in_domain(converter: Converter, folder: str | Path, name: str) -> Converter:
    """Return the converter in a folder with the language model of one of its domains.

    The class bigram has its weight for the domain.

    Raises D692 for an unknown domain, with the known ones; D655 for a damaged one.
    """
    names = list_domains(folder)
    if name not in names:
        raise UserError("D692", name=name, path=folder, names=nearest_first(name, names) if names else "none")
    model = load_mixture(Path(folder) / DOMAINS / name, converter.background)
    classes = None if converter.classes is None else converter.classes.in_domain(name)
    return replace(converter, model=model, classes=classes)


def _lexicon(arrays: Mapping[str, NDArray[Any]], tags: Sequence[str]) -> KanaLexicon:
    readings, surfaces = (unpack_texts(arrays[name]) for name in ("readings", "surfaces"))
    kinds, counts = arrays["tags"].astype(np.int16), arrays["counts"].astype(np.int64)
    usage = arrays["usage"].astype(np.float32) if len(arrays["usage"]) else None
    if not len(readings) == len(surfaces) == len(kinds) == len(counts):
        raise ValueError("the numbers of readings, spellings, tags and counts differ")
    if usage is not None and not (len(usage) == len(readings) and np.isfinite(usage).all()):
        raise ValueError("usage is not one finite number per entry")
    if "" in readings or (len(kinds) and not 0 <= kinds.min() <= kinds.max() < len(tags)):
        raise ValueError("an entry without a reading, or with an invalid tag")
    return KanaLexicon(readings, surfaces, kinds, tuple(map(str, tags)), counts, usage)


def _round_usage(usage: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return usage values rounded to sixteenths: equal values compress well."""
    return (np.round(usage * 16) / 16).astype(np.float16)
