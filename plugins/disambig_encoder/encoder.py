"""Read sentences with a transformer encoder, as written and as corrected, and compare the two readings."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.packs import find_pack

from .pieces import WordPieces, sentence_around, split_words

Floats = NDArray[np.float32]
Key = TypeVar("Key", bound=Hashable)
MANIFEST, GRAPH, VOCABULARY = "encoder.json", "encoder.onnx", "vocab.txt"
FORMAT = 2
LABELS = ("right", "wrong", "superfluous", "missing before")
"""What the encoder says of a word: it is right, wrong or superfluous, or lacks a word before it."""
_RIGHT, _WRONG, _SUPERFLUOUS, _MISSING_BEFORE = range(len(LABELS))
EVIDENCE = ("error as written", "error as corrected", "kind of error", "word as written", "word as corrected")
"""Columns of `Encoder.compare`."""
WORDS_BEFORE, WORDS_AFTER, MAX_PIECES = 28, 26, 80
"""Maximum number of words around a place, and of word pieces of a sentence, as in training."""
BATCH_PIECES = 256
"""Maximum number of word pieces of a batch, with padding; onnxruntime keeps the memory of the largest one."""

MAX_ANSWERS = 1 << 12
"""Maximum number of answers that are kept, at most 1 kB each. To verify its flags, a paragraph is read some
times with other words corrected; most of its sentences are as before."""
MAX_KEPT = 1 << 10
"""Maximum number of states that are kept by default; training keeps more (see `EncoderStates.fit`)."""


def import_onnxruntime() -> ModuleType:
    """Return the module onnxruntime, which sends nothing to its makers.

    From release 1.29 on, it reports each process, session and model to Microsoft, and keeps an identifier of
    the machine in the user's cache. The variable ``ORT_DISABLE_TELEMETRY`` turns this off if it is set before
    the module is loaded, for all that uses onnxruntime in this process. It stays as it is if it was set.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    return onnxruntime


def encoder_folder(name: str | Path) -> Path:
    """Return the folder of the encoder in an installed pack, or else the folder of this name."""
    pack = find_pack(str(name))
    return pack.folders["encoder"] if pack and "encoder" in pack.folders else Path(name)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A sentence in word pieces, and the place in it."""

    pieces: tuple[int, ...]
    place: int
    is_gap: bool  # nothing stands at the place: a word may be missing before the piece


_Query = tuple[_Reading, tuple[int, int]]
"""A sentence with a place, and the two candidate pieces to score there."""
_UNSCORED = (0, 0)
"""Candidates of a query for which they do not matter."""


class Encoder:
    """A transformer encoder that says which words are mistakes.

    It reads the sentence of a place, at most 80 word pieces. Equal sentences are read once, in batches of
    sentences of similar length. Results of a sentence do not depend on the others of its batch; the newest
    ones are kept.

    Use `Encoder.load`. Neither loading nor reading uses the network.

    Attributes
    ----------
    details : dict
        The manifest.
    most_kept : int
        Maximum number of states that are kept, the newest ones, so that the same words are not read again;
        1.5 kB each. Fitting an extractor of states raises it.
    """

    def __init__(self, session: Any, pieces: WordPieces, details: dict[str, Any]) -> None:
        self._session = session
        self._pieces = pieces
        self._states: dict[_Reading, Floats] = {}
        self._answers: dict[_Query, Floats] = {}
        self.details = details
        self.most_kept = MAX_KEPT

    @classmethod
    def load(cls, folder: str | Path, *, threads: int | None = None) -> Encoder:
        """Open the encoder of an installed pack, or in a folder that `write_encoder` wrote.

        Parameters
        ----------
        folder : path
            Folder of the encoder, or the name of the pack.
        threads : int, optional
            Number of threads; by default that of ``OMP_NUM_THREADS``, else 1.

        Raises
        ------
        UserError
            D747 if onnxruntime is not installed; D748 if the folder has no encoder, or one of another format,
            or a file with another size or digest than the manifest says.
        """
        folder = encoder_folder(folder)
        details = _read_checked(folder)
        try:
            onnxruntime = import_onnxruntime()
        except ImportError as error:
            raise UserError("D747") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or _default_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        options.enable_mem_pattern = False  # kept for each shape of a batch, and shapes hardly ever recur
        try:
            pieces = WordPieces.from_file(folder / VOCABULARY)
            path = str(folder / GRAPH)  # of bytes, the session would keep a copy
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no common base class for its errors
            raise UserError("D748", path=folder, problem=_first_line(error)) from error
        return cls(session, pieces, details)

    def error_scores(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]],
        replacements: Sequence[str] | None = None,
    ) -> Floats:
        """Return what the encoder says of one place of each text.

        Parameters
        ----------
        texts : sequence of str
        spans : sequence of (start, end)
            Character offsets of the place in each text. If it is empty, the word after it counts.
        replacements : sequence of str, optional
            What to read at each place instead of what is written there.

        Returns
        -------
        array of float32, shape (n, 4)
            Log-probabilities of `LABELS`.
        """
        if replacements is None:
            replacements = [text[start:end] for text, (start, end) in zip(texts, spans, strict=True)]
        edits = zip(texts, spans, replacements, strict=True)
        queries = [(self._readings(text, *span, new)[1], _UNSCORED) for text, span, new in edits]
        return self._answer(queries)[0]

    def compare(self, texts: Sequence[str], edits: Sequence[tuple[int, int, str]]) -> Floats:
        """Compare each text as written with the text after a correction.

        Parameters
        ----------
        texts : sequence of str
        edits : sequence of (start, end, new)
            One correction of each text: ``text[start:end]`` becomes `new`. Empty offsets insert a word, an
            empty `new` removes one.

        Returns
        -------
        array of float32, shape (n, 5)
            The columns of `EVIDENCE`: the log-odds of an error at the place as written, and as corrected; the
            log-odds of the kind of error that the correction mends; and how much better the new word fits
            than the old one in the sentence as written, and as corrected, in log-odds (nothing stands for a
            word that is missing or removed). Corrections that change no word get zeros.
        """
        queries: list[_Query] = []
        kinds, gaps, rows = [], [], []
        for row, (text, (start, end, new)) in enumerate(zip(texts, edits, strict=True)):
            before, after = self._readings(text, start, end, new)
            if before.is_gap and after.is_gap:
                continue
            old, new_piece = (
                self._pieces.nothing if reading.is_gap else reading.pieces[reading.place]
                for reading in (before, after)
            )
            queries += [(before, (old, new_piece)), (after, (old, new_piece))]
            kinds.append(_MISSING_BEFORE if before.is_gap else _SUPERFLUOUS if after.is_gap else _WRONG)
            gaps += [before.is_gap, after.is_gap]
            rows.append(row)
        evidence = np.zeros((len(texts), len(EVIDENCE)), np.float32)
        if rows:
            labels, words, in_gaps = self._answer(queries)
            # log-odds of an error, from the log-probability that the word is right
            right = labels[:, _RIGHT]
            odds = np.log(-np.expm1(np.minimum(right, -1e-6))) - right
            # even rows are the readings as written, odd ones those as corrected
            scores = np.where(np.array(gaps)[:, None], in_gaps, words)
            gains = scores[:, 1] - scores[:, 0]
            kind = labels[np.arange(0, len(odds), 2), kinds] - right[::2]
            evidence[rows] = np.stack([odds[::2], odds[1::2], kind, gains[::2], gains[1::2]], axis=1)
        return evidence

    def states(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> Floats:
        """Return the state of the last layer at one word of each text: a vector of the word in its sentence.

        Parameters
        ----------
        texts : sequence of str
        spans : sequence of (start, end)
            Character offsets of the word in each text. A word of several pieces is read at its first piece.

        Returns
        -------
        array of float32, shape (n, width)

        Raises
        ------
        UserError
            D520 if the encoder was written by an older version, without states.
        """
        outputs = {output.name: output.shape for output in self._session.get_outputs()}
        if "states" not in outputs:
            raise UserError("D520")
        places = zip(texts, spans, strict=True)
        readings = [self._readings(text, start, end, text[start:end])[0] for text, (start, end) in places]
        # those that are kept from earlier calls, and those to read
        kept = {reading: self._states.get(reading) for reading in readings}
        vectors = {reading: vector for reading, vector in kept.items() if vector is not None}
        new = [reading for reading in kept if reading not in vectors]
        states = np.zeros((len(new), outputs["states"][1]), np.float32)
        for numbers, inputs in _batches([(reading, _UNSCORED) for reading in new]):
            (states[numbers],) = self._session.run(("states",), inputs)
        vectors |= dict(zip(new, states, strict=True))
        copies = {reading: vectors[reading].copy() for reading in new}  # a row would hold its batch
        _keep(self._states, copies, self.most_kept)
        return np.stack([vectors[reading] for reading in readings]) if readings else states

    @property
    def n_kept(self) -> int:
        """Number of states that are kept."""
        return len(self._states)

    def _readings(self, text: str, start: int, end: int, new: str) -> tuple[_Reading, _Reading]:
        """Return the sentence of a place as written, and with `new` at the place."""
        left, right = sentence_around(text, start, end)
        before = [self._pieces(word) for word in split_words(text[left:start])[-WORDS_BEFORE:]]
        after = [self._pieces(word) for word in split_words(text[end:right])[:WORDS_AFTER]]
        middles = [[self._pieces(word) for word in split_words(words)] for words in (text[start:end], new)]
        # both readings have the same context, so that their scores compare
        room = MAX_PIECES - 2 - max(sum(map(len, middle)) for middle in middles)
        while sum(map(len, before)) + sum(map(len, after)) > max(room, 0):
            if len(after) > len(before):  # the end that is farther from the place goes
                after.pop()
            else:
                before.pop(0)
        readings = []
        for middle in middles:
            pieces = [self._pieces.cls, *(piece for word in before for piece in word)]
            place = len(pieces)
            pieces += [piece for word in (*middle, *after) for piece in word][: MAX_PIECES - place]
            readings.append(_Reading((*pieces, self._pieces.sep), place, not middle))
        return readings[0], readings[1]

    def _answer(self, queries: Sequence[_Query]) -> tuple[Floats, Floats, Floats]:
        """Return the log-probabilities of the labels, and the scores of candidates as words and in gaps.

        The labels have the shape ``(n, n_labels)``, the scores of the two candidates of each query ``(n,
        2)``. What was asked before is not read again.
        """
        answers = {query: self._answers.get(query) for query in queries}
        new = [query for query, answer in answers.items() if answer is None]
        rows = np.zeros((len(new), len(LABELS) + 4), np.float32)
        for numbers, inputs in _batches(new):
            rows[numbers] = np.concatenate(self._session.run(("mistakes", "words", "gaps"), inputs), axis=1)
        copies = {query: row.copy() for query, row in zip(new, rows, strict=True)}
        _keep(self._answers, copies, MAX_ANSWERS)
        answers |= copies
        table = np.array([answers[query] for query in queries], np.float32).reshape(-1, rows.shape[1])
        labels, words, gaps = np.split(table, (len(LABELS), len(LABELS) + 2), axis=1)
        labels -= labels.max(axis=1, keepdims=True)
        labels -= np.log(np.exp(labels).sum(axis=1, keepdims=True))
        return labels, words, gaps


def _keep(kept: dict[Key, Floats], new: Mapping[Key, Floats], maximum: int) -> None:
    """Keep arrays by their keys; the oldest ones go if there are more than `maximum`."""
    kept |= new
    for key in list(kept)[: max(len(kept) - maximum, 0)]:
        kept.pop(key, None)


def _batches(queries: Sequence[_Query]) -> Iterator[tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]]:
    """Yield the numbers of the queries of each batch, and the inputs of the graph."""
    # equal sentences are read once: `rows` has the sentence of each query
    numbers_of: dict[tuple[int, ...], int] = {}
    sentence_of = [numbers_of.setdefault(reading.pieces, len(numbers_of)) for reading, _ in queries]
    sentences, rows = list(numbers_of), np.array(sentence_of, np.int64)
    places = np.array([reading.place for reading, _ in queries], np.int64)
    candidates = np.array([pieces for _, pieces in queries], np.int64).reshape(len(queries), 2)
    by_sentence = np.argsort(rows, kind="stable")  # queries, those of each sentence from `starts` on
    starts = np.searchsorted(rows[by_sentence], np.arange(len(sentences) + 1))
    for batch in batches_by_length([len(sentence) for sentence in sentences]):
        ids = np.zeros((len(batch), max(len(sentences[i]) for i in batch)), np.int64)
        for row, i in enumerate(batch):
            ids[row, : len(sentences[i])] = sentences[i]
        numbers = np.concatenate([by_sentence[starts[i] : starts[i + 1]] for i in batch])
        row_in_batch = np.repeat(np.arange(len(batch)), [starts[i + 1] - starts[i] for i in batch])
        inputs = {"ids": ids, "rows": row_in_batch}
        yield numbers, inputs | {"places": places[numbers], "candidates": candidates[numbers]}


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of sentences of similar length, at most `BATCH_PIECES` pieces together."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] * (len(batch) + 1) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _read_checked(folder: Path) -> dict[str, Any]:
    """Return the manifest, after comparing the sizes and digests of all files."""
    try:
        details = json.loads((folder / MANIFEST).read_text("utf8"))
        if details["format"] != FORMAT:
            raise UserError("D748", path=folder, problem=f"format {details['format']}, expected {FORMAT}")
        for name in (GRAPH, VOCABULARY):
            size, digest = details["files"][name]["size"], details["files"][name]["sha256"]
            if (folder / name).stat().st_size != size:
                raise UserError("D748", path=folder / name, problem=f"expected {size:,} bytes")
            if _file_digest(folder / name) != digest:
                raise UserError("D748", path=folder / name, problem="its SHA-256 differs from the manifest")
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = getattr(error, "strerror", None) or f"{type(error).__name__}: {_first_line(error)}"
        raise UserError("D748", path=folder, problem=problem) from error
    return dict(details)


def _file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, which is read in blocks: the graph would take much memory."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 18):
            digest.update(block)
    return digest.hexdigest()


def _default_threads() -> int:
    """Return the number of threads that ``OMP_NUM_THREADS`` says, 1 if it says none."""
    value = os.environ.get("OMP_NUM_THREADS", "")
    return int(value) if value.isascii() and value.isdigit() and int(value) > 0 else 1


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
