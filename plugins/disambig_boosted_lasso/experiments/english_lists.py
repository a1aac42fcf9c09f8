"""English lists of candidates: corrected paragraphs and tag sequences, and the features of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import FeatureExtractor, Features, Group, Instances, SparseRows, resolve
from disambig.api.arrays import offsets_from_sizes, row_ranks, take_rows
from disambig.api.batches import convert, join
from disambig.api.evaluation import ModelChecker, ProposedEdit
from disambig.api.experiments import Progress, ewt_sentences
from disambig.api.features import TokenContext, tagged_batch, transform_checked
from disambig.api.formats import Clean, Fix, list_instances, read_clean, read_fixes
from disambig.api.measures import measure_named, text_costs
from disambig.api.tasks import CandidateLists, CandidateWords
from disambig.api.text import view_of_texts

_GROUP = Group("lists", ())


@dataclass(frozen=True, slots=True, eq=False)
class WordLists:
    """Lists with the words that each family of features counts."""

    lists: CandidateLists  # lists with costs
    words: tuple[CandidateWords, ...]  # units to count, for the same candidates: one entry per family

    def take(self, index: NDArray[np.generic]) -> WordLists:
        """Return some of the lists."""
        rows, _ = take_rows(self.lists.offsets, np.arange(len(self.lists))[index])
        return WordLists(self.lists.take(index), tuple(words.take(rows) for words in self.words))

    @classmethod
    def concat(cls, parts: Sequence[WordLists]) -> WordLists:
        """Return the lists of all parts, concatenated."""
        families = zip(*(part.words for part in parts), strict=True)
        return cls(
            CandidateLists.joined([part.lists for part in parts]),
            tuple(CandidateWords.joined(family) for family in families),
        )


@dataclass(frozen=True, slots=True)
class NgramFamily:
    """A family of n-grams of one kind of words."""

    number: int  # index into `WordLists.words`
    order: int
    least: int  # see ``disambig.TextNgrams.v1``


@dataclass(frozen=True, slots=True)
class RowExtractor:
    """Fitted extractors."""

    source: FeatureExtractor
    families: tuple[NgramFamily, ...]
    counting: tuple[FeatureExtractor, ...]  # one per family

    @classmethod
    def fit(cls, seen: WordLists, families: Sequence[NgramFamily], *, rank: bool = True) -> RowExtractor:
        """Return extractors fitted on training lists."""
        config = {"source": {"@disambig_extractors": "disambig.SourceFeatures.v1", "least": 5, "rank": rank}}
        for i, family in enumerate(families):
            name = "disambig.TextNgrams.v1"
            config[f"n{i}"] = {
                "@disambig_extractors": name,
                "order": family.order,
                "least": family.least,
            }
        made = resolve(config)
        source = made.pop("source").fit(_NOWHERE, list_instances(seen.lists), (_GROUP,))
        counting = tuple(
            extractor.fit(_NOWHERE, _count_features(seen, family), (_GROUP,))
            for extractor, family in zip(made.values(), families, strict=True)
        )
        return cls(source, tuple(families), counting)

    def rows(self, seen: WordLists) -> SparseRows:
        """Return one row per candidate."""
        parts: list[Features] = [transform_checked(self.source, _NOWHERE, list_instances(seen.lists), _GROUP)]
        parts += [
            transform_checked(extractor, _NOWHERE, _count_features(seen, family), _GROUP)
            for extractor, family in zip(self.counting, self.families, strict=True)
        ]
        batch = convert(join(parts).batch, SparseRows)
        assert isinstance(batch, SparseRows)
        return batch


def _count_features(seen: WordLists, family: NgramFamily) -> Instances:
    return list_instances(
        replace(seen.lists, words=seen.words[family.number], features=None, feature_names=())
    )


_NOWHERE = view_of_texts([], resolve({"t": {"@disambig_tokenisations": "disambig.words.v1"}})["t"])


CORRECTIONS_FOLDER = Path("labelled") / "fixes"
MODELS = "disambig_en/preposition+disambig_en/spelling"
CLASSES = ("preposition", "confusion")
"""The models, and the classes of mistakes that they decide."""
N_COMBINED, MAX_CANDIDATES = 4, 20
"""Number of most certain changes that are combined; maximum number of candidates per list."""
CONTEXT_WORDS = 2
"""Number of words before and after all changes that trigrams reach."""
WORD_FEATURES = 0
"""The only entry of `WordLists.words`."""
_CUT = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_MIN_CONFIDENCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CorrectionLists:
    """The lists of some paragraphs, first those with a mistake."""

    seen: WordLists
    n_fixes: int  # number of paragraphs with a mistake
    changes: NDArray[np.int64]  # (n_candidates,): number of changes in each candidate
    mends: NDArray[np.bool_]  # (n_candidates,): whether one of the changes corrects the mistake
    # int64 (n_lists,): the candidate that the models choose at their own flag rates
    default: NDArray[np.int64]
    units: NDArray[np.int64]  # (n_lists,): project of each paragraph
    words: NDArray[np.int64]  # (n_lists,): number of words in each paragraph

    @property
    def lists(self) -> CandidateLists:
        """The lists with their costs: word edits to the corrected text."""
        return self.seen.lists


def read_part(data: Path, part: str, *, every: int = 1) -> tuple[list[Fix], list[Clean]]:
    """Return the most certain mistakes of these classes in a part and clean paragraphs; every n-th."""
    fixes = read_fixes(data / CORRECTIONS_FOLDER / f"{part}.jsonl.xz", tier=1)
    classified = [fix for fix in fixes if fix.category in CLASSES]
    return classified[::every], read_clean(data / CORRECTIONS_FOLDER / f"clean.{part}.jsonl.xz")[::every]


def build_correction_lists(
    checker: ModelChecker, fixes: Sequence[Fix], clean: Sequence[Clean]
) -> CorrectionLists:
    """Return the lists of all paragraphs: the possible changes, each alone and the best ones together."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction import DictVectorizer

    texts = [*(fix.before for fix in fixes), *(passage.text for passage in clean)]
    references = [*(fix.corrected() for fix in fixes), *(passage.text for passage in clean)]
    limits = checker.limits()
    windows, scores, counts, compared = [], [], [], []
    mends, default, wanted = [], [], []
    for number, (text, reference, edits) in enumerate(
        zip(texts, references, checker.edits(texts), strict=True)
    ):
        kept = sorted(edits, key=lambda edit: -edit.sure)
        edit_sets = sorted(
            possible_edits(kept), key=lambda chosen: (-sum(log_odds(kept[i]) for i in chosen), chosen)
        )
        whole = [apply_edits(text, [kept[i] for i in chosen]) for chosen in edit_sets]
        right = comparison_words(reference)
        edited = range(len(kept)) if number < len(fixes) else ()
        good = {i for i in edited if comparison_words(apply_edits(text, [kept[i]])) == right}
        flagged = tuple(i for i, edit in enumerate(kept) if edit.sure > limits[edit.task])
        windows += list(_windows(text, kept, edit_sets))
        wanted += [" ".join(right)] * len(edit_sets)
        compared += [" ".join(comparison_words(text)) for text in whole]
        scores.append([sum(log_odds(kept[i]) for i in chosen) for chosen in edit_sets])
        counts += [edit_features(text, [kept[i] for i in chosen]) for chosen in edit_sets]
        mends += [number < len(fixes) and not good.isdisjoint(chosen) for chosen in edit_sets]
        default.append(_nearest(edit_sets, flagged))
    offsets = offsets_from_sizes(map(len, scores))
    flat_scores, ranks = np.array(list(chain.from_iterable(scores))), row_ranks(offsets).astype(np.int32)
    costs, vectorizer = text_costs(measure_named("wer"), compared, wanted), DictVectorizer()
    features = csr_array(vectorizer.fit_transform(counts)), tuple(vectorizer.feature_names_)
    lists = CandidateLists(offsets, compared, flat_scores, ranks, costs, *features)
    projects: dict[str, int] = {}
    repos = [*(fix.repo for fix in fixes), *(passage.repo for passage in clean)]
    return CorrectionLists(
        WordLists(lists, (CandidateWords.from_words(windows),)),
        len(fixes),
        np.array([int(row.get("changes", 0)) for row in counts], np.int64),
        np.array(mends, np.bool_),
        np.array(default, np.int64),
        np.array([projects.setdefault(repo, len(projects)) for repo in repos], np.int64),
        np.array([len(text.split()) for text in texts], np.int64),
    )


def select_lists(part: CorrectionLists, index: NDArray[np.int64]) -> CorrectionLists:
    """Return some of the lists, first those with a mistake."""
    index = np.concatenate([index[index < part.n_fixes], index[index >= part.n_fixes]])
    rows, _ = take_rows(part.lists.offsets, index)
    return CorrectionLists(
        part.seen.take(index),
        int((index < part.n_fixes).sum()),
        part.changes[rows],
        part.mends[rows],
        part.default[index],
        part.units[index],
        part.words[index],
    )


def possible_edits(edits: Sequence[ProposedEdit]) -> list[tuple[int, ...]]:
    """Return the sets of edits of the candidates: none, each edit alone, and the best ones together.

    Adjacent edits are not combined. There are at most `MAX_CANDIDATES` sets; the empty set and single edits
    come first.
    """
    best = range(min(N_COMBINED, len(edits)))
    together = [
        chosen
        for size in range(2, N_COMBINED + 1)
        for chosen in combinations(best, size)
        if all(
            edits[i].end < edits[j].start or edits[j].end < edits[i].start for i, j in combinations(chosen, 2)
        )
    ]
    together.sort(key=lambda chosen: -sum(log_odds(edits[i]) for i in chosen))
    return [(), *((i,) for i in range(len(edits))), *together][:MAX_CANDIDATES]


def log_odds(edit: ProposedEdit) -> float:
    """Return the log odds that an edit is right."""
    sure = min(max(edit.sure, _MIN_CONFIDENCE), 1 - _MIN_CONFIDENCE)
    return float(np.log(sure / (1 - sure)))


def apply_edits(text: str, edits: Sequence[ProposedEdit]) -> str:
    """Return a text after edits, which must not overlap."""
    for edit in sorted(edits, key=lambda edit: (-edit.start, -edit.end)):
        text = text[: edit.start] + (edit.new or "") + text[edit.end :]
    return text


def comparison_words(text: str) -> list[str]:
    """Return words and punctuation for comparison: white space, case and curly quotes are ignored."""
    return _CUT.findall(text.replace("\u2019", "'").casefold())


def edit_features(text: str, edits: Sequence[ProposedEdit]) -> dict[str, float]:
    """Return the features of a candidate besides its words: edits by model, and their log odds."""
    features: dict[str, float] = {}
    for edit in edits:
        old, new = (
            " ".join(comparison_words(words)) for words in (text[edit.start : edit.end], edit.new or "")
        )
        kind = "insert" if not old else "replace" if new else "delete"
        for name, value in (
            ("changes", 1.0),
            (f"{edit.task}: {kind}", 1.0),
            (f"{edit.task}: {old} > {new}", 1.0),
            (f"{edit.task}: log odds", log_odds(edit)),
            (f"{edit.task}: {kind}, log odds", log_odds(edit)),
        ):
            features[name] = features.get(name, 0.0) + value
    return features


def _windows(
    text: str, edits: Sequence[ProposedEdit], edit_sets: Sequence[tuple[int, ...]]
) -> Iterator[list[str]]:
    """Yield the words of each candidate from just before the first edit of any to just after the last.

    The words outside are common to all candidates, so their n-grams cannot separate candidates.
    """
    if not edits:
        yield []
        return
    first, last = min(edit.start for edit in edits), max(edit.end for edit in edits)
    before, after = (
        comparison_words(text[:first])[-CONTEXT_WORDS:],
        comparison_words(text[last:])[:CONTEXT_WORDS],
    )
    for chosen in edit_sets:
        made = apply_edits(text[:last], [edits[i] for i in chosen])[first:]
        yield [*before, *comparison_words(made), *after]


def _nearest(edit_sets: Sequence[tuple[int, ...]], flagged: tuple[int, ...]) -> int:
    """Return the candidate with these edits, or the one with most of them, the most certain first."""
    if flagged in edit_sets:
        return edit_sets.index(flagged)
    inside = [chosen for chosen in edit_sets if set(chosen) <= set(flagged)]
    return edit_sets.index(max(inside, key=lambda chosen: (len(chosen), [-i for i in chosen])))


TAGGER = "random_subspace.StructuredPerceptron.v1"
PASSES = 5
N_BEST = 20
TAGGING_FOLDS, TAGGING_BLOCK = 5, 250
NEIGHBOURHOOD = 3
"""Number of positions on each side of a difference between candidates that 4-grams of tags reach."""
TAGS, LEXICAL = 0, 1
"""Entries of `WordLists.words`: tags only; tags with words and with their neighbours."""
_GAP, _START, _END = "|", "<s>", "</s>"
Tagged = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class ChainTagger:
    """A chain model: features of words, crossed with tags, and pairs of tags."""

    context: TokenContext
    scorer: Any  # returns the k best sequences
    tags: tuple[str, ...]
    n: int  # number of training sentences

    @classmethod
    def train(cls, sentences: Sequence[Tagged], tags: tuple[str, ...]) -> ChainTagger:
        """Return a tagger trained on sentences with a registered learner."""
        batch, context = tagged_batch(sentences, tags)
        config = {"learner": {"@disambig_learners": TAGGER, "passes": PASSES}}
        return cls(context, resolve(config)["learner"].fit(batch).scorer, tags, len(sentences))

    def best(
        self, sentences: Sequence[Tagged], k: int = N_BEST
    ) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
        """Return scores and tag numbers of the `k` best sequences for each sentence.

        The weights of a perceptron grow with the number of training sentences, so scores are divided by this
        number: taggers of folds and of all sentences then have comparable scores.
        """
        batch, _ = tagged_batch(sentences, self.tags, self.context)
        return [(scores / self.n, paths) for scores, paths in self.scorer.k_best(batch, k)]


def read_ewt(data: Path, split: str, *, every: int = 1) -> list[Tagged]:
    """Return words and Penn tags of every n-th sentence in a part of EWT (errors: see `ewt_sentences`)."""
    sentences = islice(ewt_sentences(data, [split]), 0, None, every)
    return [(sentence.forms, sentence.tags) for sentence in sentences]


def distinct_tags(sentences: Sequence[Tagged]) -> tuple[str, ...]:
    """Return the tags that occur, sorted."""
    return tuple(sorted({tag for _, tags in sentences for tag in tags}))


def cross_fitted_tags(sentences: Sequence[Tagged], tags: tuple[str, ...], progress: Progress) -> WordLists:
    """Return the lists of sentences, each by a tagger trained on the other folds; fold by fold.

    Folds consist of blocks of adjacent sentences (`TAGGING_BLOCK`), so that most texts are in one fold, and
    each genre in several.
    """
    parts, fold_of = [], np.arange(len(sentences)) // TAGGING_BLOCK % TAGGING_FOLDS
    for fold in range(TAGGING_FOLDS):
        progress("tagging by folds", fold, TAGGING_FOLDS)
        held_out = [sentences[i] for i in np.flatnonzero(fold_of == fold).tolist()]
        others = [sentences[i] for i in np.flatnonzero(fold_of != fold).tolist()]
        parts.append(
            tag_sequence_lists(held_out, ChainTagger.train(others, tags).best(held_out, N_BEST), tags)
        )
    return WordLists.concat(parts)


def tag_sequence_lists(
    sentences: Sequence[Tagged],
    tagged: Sequence[tuple[NDArray[Any], NDArray[np.int64]]],
    tags: Sequence[str],
) -> WordLists:
    """Return the lists of some sentences: the cost is the number of wrong tags.

    `tagged` has scores and tags of each sentence, of shapes ``(k,)`` and ``(k, n_words)``.
    """
    from scipy.ndimage import binary_dilation

    number = {tag: i for i, tag in enumerate(tags)}
    sizes = np.array([len(scores) for scores, _ in tagged], np.int64)
    offsets = offsets_from_sizes(sizes)
    costs, texts = [], []
    plain: list[list[str]] = []
    lexical: list[list[str]] = []
    for (words, right), (_, paths) in zip(sentences, tagged, strict=True):
        gold = np.array([number.get(tag, -1) for tag in right])
        costs.append((paths != gold).sum(axis=1))
        near = binary_dilation((paths != paths[0]).any(axis=0), iterations=NEIGHBOURHOOD)
        forms = [word.lower() for word in words]
        for path in paths.tolist():
            path_tags = [tags[i] for i in path]
            texts.append(" ".join(path_tags))
            plain.append(_runs(path_tags, near))
            lexical.append(_with_words(path_tags, forms, near))
    lists = CandidateLists(
        offsets,
        texts,
        np.concatenate([scores for scores, _ in tagged]).astype(np.float64),
        row_ranks(offsets).astype(np.int32),
        np.concatenate(costs).astype(np.float32),
    )
    return WordLists(lists, (CandidateWords.from_words(plain), CandidateWords.from_words(lexical)))


def _runs(tags: Sequence[str], near: NDArray[np.bool_]) -> list[str]:
    """Return the tags of positions near a difference, with a mark for each gap."""
    runs: list[str] = []
    for tag, kept in zip(tags, near.tolist(), strict=True):
        if kept:
            runs.append(tag)
        elif not runs or runs[-1] != _GAP:
            runs.append(_GAP)
    return runs


def _with_words(tags: Sequence[str], forms: Sequence[str], near: NDArray[np.bool_]) -> list[str]:
    """Return features that the chain lacks: tags of neighbours with words, and words with their tags."""
    padded = [_START, *tags, _END]
    kept = []
    for i in np.flatnonzero(near).tolist():
        before, tag, after = padded[i : i + 3]
        form = forms[i]
        kept += [
            f"{form}/{tag}",
            f"{before}_{form}/{tag}",
            f"{form}/{tag}_{after}",
            f"{before}_{form}_{after}",
        ]
    return kept
