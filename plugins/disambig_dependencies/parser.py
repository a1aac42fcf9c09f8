"""The parser: tagged words to heads and relations; saving and loading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Model, TokenView, UserError, load_model
from disambig.api.arrays import ArrayFolder, digest_arrays, offsets_from_sizes
from disambig.api.features import WordClasses
from disambig.api.packs import PackFolder
from disambig.api.settings import whole_number_between
from disambig.api.text import SpacyTokens, hash_words

PACK = "disambig_en_dependencies"
FORMAT = "disambig.dependencies.v1"
FILE = "weights.npz"
ROOT = "root"
MAX_LABELS = 500
_NAMES = ("steps", "sizes", "actions", "weights", "class_words", "classes")
_FOLDER = ArrayFolder(FILE, _NAMES, "D900", FORMAT, has_digest=False)
BEAM = whole_number_between(1, 64, "D903")
_WORD_NANOSECONDS = 70_000
"""Time to parse a word with NumPy."""


@dataclass(frozen=True, slots=True)
class ParsedWords:
    """A parsed sentence."""

    words: list[str]
    tags: list[str]
    heads: list[int]  # index of each word's head; -1 for the root
    relations: list[str]  # of Universal Dependencies; ``"root"`` for the root


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Sparse weights of hashed features."""

    keys: NDArray[np.uint32]  # (n_features,): ascending
    sizes: NDArray[np.uint16]  # (n_features,): number of weights of each feature, at least 1
    actions: NDArray[np.uint16]  # (n_weights,)
    weights: NDArray[np.int16]  # (n_weights,)


@dataclass(frozen=True, slots=True, eq=False)
class DependencyParser:
    """Finds the head and the relation of every word.

    Attributes
    ----------
    relations : tuple of str
        All relations except that of the root.
    weights : Weights
    classes : WordClasses
        Word classes, whose first and last column are features.
    beam : int
        Number of derivations that are continued; 1 is greedy.
    language : str
    tagger : str
        The model that tags plain text.
    """

    formats: ClassVar[tuple[str, ...]] = (FORMAT,)
    relations: tuple[str, ...]
    weights: Weights
    classes: WordClasses
    beam: int = 1
    language: str = "en"
    tagger: str = "tag"
    _packed: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = field(
        init=False, repr=False, default_factory=list
    )
    """The table and the rows of the compiled functions, once they are made."""

    def __post_init__(self) -> None:
        BEAM.check("beam", self.beam)

    @classmethod
    def load(cls, folder: str | Path) -> DependencyParser:
        """Read the parser in a folder, or that of a pack; see `load_parser`."""
        return load_parser(folder)

    def save(self, folder: str | Path) -> None:
        """Write the parser into a folder; see `save_parser`."""
        save_parser(self, folder)

    def __repr__(self) -> str:
        """Return the description: arrays would fill the screen."""
        return f"<{self.describe()}>"

    def describe(self) -> str:
        """Return what the parser is and how large it is."""
        return f"dependency parser: {len(self.weights.keys):,} features, {len(self.relations)} relations"

    def records(self, texts: Sequence[str], *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        """Return the words, tags, heads and relations of each sentence; see `ParsedWords`.

        There is one parse per sentence, whatever `n_best` is.
        """
        return [[asdict(parsed) for parsed in self.parse(text)] for text in texts]

    def with_beam(self, beam: int) -> DependencyParser:
        """Return the parser with another width of the beam."""
        return replace(self, beam=beam)

    def parse(self, text: str) -> list[ParsedWords]:
        """Return the parse of each sentence of a text.

        The text is split into spaCy's tokens, and tagged by the model `tagger`.
        """
        view = SpacyTokens(self.language)([text])
        model = load_model(self.tagger)
        instances, chosen = model.choose(view)
        names = np.array(model.task.groups[0].candidates)
        tags = np.zeros(len(view), np.int64)
        tags[instances.positions] = chosen
        hashes = hash_words(list(names))[tags]
        heads, relations = self.parse_view(view, hashes)
        parsed = []
        for first, last in pairwise(view.sentences.tolist()):
            tokens = slice(first + 1, last - 1)  # without the boundaries of the sentence
            if first + 1 < last - 1:
                words = [text[view.starts[i] : view.ends[i]] for i in range(first + 1, last - 1)]
                own_heads = [head - first - 1 if head >= 0 else -1 for head in heads[tokens].tolist()]
                labels = [self.relation(label) for label in relations[tokens].tolist()]
                parsed.append(ParsedWords(words, names[tags[tokens]].tolist(), own_heads, labels))
        return parsed

    def parse_tagged(self, sentences: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[ParsedWords]:
        """Return the parses of sentences given as words and tags.

        Raises D916 for a sentence that does not have one tag for each word.
        """
        for number, (words, tags) in enumerate(sentences, 1):
            if len(words) != len(tags):
                raise UserError("D916", number=number, problem=f"words: {len(words)}, tags: {len(tags)}")
        bounds, atoms = encode_words(sentences, self.classes)
        heads, labels, _ = self._parse(bounds, atoms)
        parsed = []
        for (words, tags), (first, last) in zip(sentences, pairwise(bounds.tolist()), strict=True):
            relations = [self.relation(label) for label in labels[first + 1 : last].tolist()]
            own_heads = (heads[first + 1 : last] - 1).tolist()
            parsed.append(ParsedWords(list(words), list(tags), own_heads, relations))
        return parsed

    def parse_view(
        self, view: TokenView, tags: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the head of each token of a view as a position, and the number of its relation.

        The view is of `disambig.spacy_tokens.v1`, and `tags` are the hashes of its tokens' tags. A head is -1
        for roots and for the boundaries of sentences, whose relation is 0.
        """
        return self.parse_view_scored(view, tags)[:2]

    def parse_view_scored(
        self, view: TokenView, tags: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return heads and relations as `parse_view`, and the score of each sentence's parse.

        Scores are in units of the perceptron's weights: they compare parses of similar sentences.
        """
        # the rows of sentences with words: the boundary at the begin stands for word 0, that at the end goes
        sizes = np.diff(view.sentences)
        has_words = sizes > 2
        keep = np.repeat(has_words, sizes)
        keep[view.sentences[1:] - 1] = False
        positions = np.flatnonzero(keep)
        bounds = offsets_from_sizes(sizes[has_words] - 1)
        hashes = view.hashes[positions]
        atoms = _atoms(hashes, tags[positions], self.classes)
        atoms[bounds[:-1]] = 0
        heads, labels, totals = self._parse(bounds, atoms)
        # heads are numbered from 1 within the sentence
        starts = np.repeat(positions[bounds[:-1]], np.diff(bounds))
        all_heads, relations = np.full(len(view), -1, np.int64), np.zeros(len(view), np.int32)
        all_heads[positions] = np.where(heads > 0, starts + heads, -1)
        relations[positions] = labels
        scores = np.zeros(len(sizes))
        scores[has_words] = totals
        return all_heads, relations, scores

    def relation(self, number: int) -> str:
        """Return the name of a relation by its number, 0 for the root."""
        return self.relations[number - 1] if number else ROOT

    def digest(self) -> str:
        """Return a digest that identifies the parser's weights."""
        return digest_arrays(_state(self), "\n".join(self.relations).encode())

    def _parse(
        self, bounds: NDArray[np.int64], atoms: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the heads and labels of all words, and the score of each sentence."""
        from disambig.api.kernels import use_numba

        heads, labels = np.zeros(len(atoms), np.int32), np.zeros(len(atoms), np.int32)
        totals = np.zeros(len(bounds) - 1, np.int64)
        if self.beam == 1 and not use_numba(len(atoms), nanoseconds=_WORD_NANOSECONDS):
            from ._greedy import parse_with_numpy

            parse_with_numpy(bounds, atoms, len(self.relations), self.weights, heads, labels, totals)
            return heads, labels, totals
        from ._kernels import parse

        parse(bounds, atoms, len(self.relations), *self._pack_rows(), self.beam, heads, labels, totals)
        return heads, labels, totals

    def _pack_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the table from features to rows of weights, and the rows, for the compiled functions."""
        if not self._packed:
            from ._kernels import pack_rows

            weights = self.weights
            table = np.zeros(1 << max(1, (2 * len(weights.keys)).bit_length()), np.int64)
            packed = np.zeros(len(weights.weights) + 1, np.int32)
            pack_rows(weights.keys, weights.sizes, weights.actions, weights.weights, table, packed)
            self._packed.append((table, packed))
        return self._packed[0]


def encode_words(
    sentences: Sequence[tuple[Sequence[str], Sequence[str]]], classes: WordClasses
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the rows of sentences, the first of each being zeros, and what features are made from.

    The bounds have the shape ``(n_sentences + 1,)``, the atoms ``(n_words + n_sentences, 4)``.
    """
    bounds = offsets_from_sizes(len(words) + 1 for words, _ in sentences)
    hashes = _hashes([word.lower() for words, _ in sentences for word in ("", *words)])
    tags = _hashes([tag for _, tags in sentences for tag in ("", *tags)])
    atoms = _atoms(hashes, tags, classes)
    atoms[bounds[:-1]] = 0
    return bounds, atoms


def _hashes(strings: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of strings; each distinct string is hashed once."""
    distinct = list(set(strings))
    by_string = dict(zip(distinct, hash_words(distinct).tolist(), strict=True))
    return np.array([by_string[string] for string in strings], np.uint64)


def _atoms(words: NDArray[np.uint64], tags: NDArray[np.uint64], classes: WordClasses) -> NDArray[np.uint64]:
    """Return the hashes of words and tags, and the words' coarsest and finest classes, as columns."""
    columns = classes.lookup(words)
    return np.stack([words, tags, columns[:, 0], columns[:, -1]], axis=1)


def check_tagger(model: Model, name: str) -> None:
    """Check that a model tags every token. Raises D505 if it does not; `name` is what needs the tags."""
    decides = getattr(model.task, "decides", None)
    if not isinstance(decides, Decides) or (decides.where, decides.between) != ("tokens", "labels"):
        raise UserError("D505", name=name, model=model.name, task=model.task.name)


PARSERS = PackFolder(
    "dependencies", "dependency parser", "save_parser", lambda folder: (folder / FILE).is_file(), PACK
)
"""Parsers by the name of their pack or folder."""


def save_parser(
    parser: DependencyParser, folder: str | Path, *, details: Mapping[str, Any] | None = None
) -> None:
    """Write a parser into a folder, which is created if necessary; a parser there is replaced.

    `details` is information about the parser, as plain values.
    """
    header = {
        "language": parser.language,
        "tagger": parser.tagger,
        "beam": parser.beam,
        "relations": list(parser.relations),
        "about": dict(details or {}),
        "digest": parser.digest(),
    }
    _FOLDER.write(Path(folder), header, _state(parser))


def load_parser(name: str | Path = PACK) -> DependencyParser:
    """Return the parser of a pack or a folder.

    Raises D901, D902 and D943 if there is no such parser, D900 if a file is missing, damaged or not from this
    program.
    """
    folder = PARSERS.locate(name)
    header, arrays = _FOLDER.read(folder)
    try:
        relations = header["relations"]
        if not isinstance(relations, list) or not 1 <= len(relations) <= MAX_LABELS:
            raise ValueError("its relations are not a list of names")
        names = (*relations, header["language"], header["tagger"])
        if not all(isinstance(name, str) and name for name in names):
            raise ValueError("one of its names is not a string, or is empty")
        weights = _read_weights(arrays, 2 * len(relations) + 1)
        classes = WordClasses.from_state({"class_words": arrays["class_words"], "classes": arrays["classes"]})
        if not classes.depth:
            raise ValueError("its words have no classes")
        if header.get("digest") != digest_arrays(arrays, "\n".join(relations).encode()):
            raise ValueError("the header and the arrays do not belong together, or are damaged")
        settings = {name: header[name] for name in ("language", "tagger", "beam")}
    except (ValueError, LookupError, TypeError, OverflowError) as problem:
        raise UserError("D900", path=folder, problem=problem) from None
    return DependencyParser(tuple(relations), weights, classes, **settings)


def _state(parser: DependencyParser) -> dict[str, NDArray[Any]]:
    weights = parser.weights
    return {
        # differences of ascending keys compress to half their size
        "steps": np.diff(weights.keys, prepend=np.uint32(0)).astype(np.uint32),
        "sizes": weights.sizes,
        "actions": weights.actions,
        "weights": weights.weights,
        "class_words": parser.classes.words,
        "classes": parser.classes.classes,
    }


def _read_weights(arrays: Mapping[str, NDArray[Any]], n_actions: int) -> Weights:
    steps, sizes, actions, weights = (arrays[name] for name in ("steps", "sizes", "actions", "weights"))
    kinds = ((steps, np.uint32), (sizes, np.uint16), (actions, np.uint16), (weights, np.int16))
    if any(array.dtype != kind or array.ndim != 1 for array, kind in kinds):
        raise ValueError("its arrays have other types or shapes")
    keys = np.cumsum(steps, dtype=np.uint64)
    if (steps[1:] == 0).any() or (len(keys) and keys[-1] >= 1 << 32):
        raise ValueError("its features are not ascending")
    if len(sizes) != len(keys) or (sizes == 0).any() or sizes.sum(dtype=np.int64) != len(actions):
        raise ValueError("its features do not have as many weights as they say")
    if len(actions) != len(weights) or (actions >= n_actions).any():
        raise ValueError("a weight belongs to no action")
    return Weights(keys.astype(np.uint32), sizes, actions, weights)
