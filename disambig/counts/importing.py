"""Build a count table from existing counts: TSV files, Web 1T and Google Books."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts.build import BuildOptions, header_info, make_counter, refuse_no_ngrams, write_counter
from disambig.counts.counter import NgramCounter
from disambig.counts.inputs import BOM, count_format, unpacked, whole_lines
from disambig.counts.table import UNSPLIT_TOKENISATIONS
from disambig.counts.writer import refuse_existing
from disambig.errors import UserError
from disambig.files import decode, reading
from disambig.text import END_HASH, MAX_ORDER, SENTENCE_END, SENTENCE_START, START_HASH, hash_word
from disambig.type_aliases import no_progress

if TYPE_CHECKING:
    from typing_extensions import Unpack


_TAGS = rb"NOUN|VERB|ADJ|ADV|PRON|DET|ADP|NUM|CONJ|PRT|X|\."
_TAGGED = re.compile(rb"_(?:%b|ROOT)_|(.+)(_(?:%b))" % (_TAGS, _TAGS), re.DOTALL)
_BOUNDARIES = {SENTENCE_START.encode(): START_HASH, SENTENCE_END.encode(): END_HASH}
_GOOGLE_BOUNDARIES = {b"_START_": START_HASH, b"_END_": END_HASH}


class WordMap:
    """A growing map from the hashes of words as written to the hashes of their normal forms.

    `google`: whether the words come from Google Books.
    `tagged`: whether to keep words with a part-of-speech tag.
    Attribute `entries` (uint64 (a power of two, 2)): for compiled functions (`_kernels.find_row`):
    hash of a word, and hash of its normal form or `CUT` or `TAGGED` if it has none.
    """

    def __init__(self, tokenisation: str, *, google: bool = False, tagged: bool = False) -> None:
        from disambig.text import tokenisation_named

        self.entries = np.zeros((1 << 16, 2), dtype=np.uint64)
        self._n = 0
        self._tokenisation = (
            None if tokenisation in UNSPLIT_TOKENISATIONS else tokenisation_named(tokenisation)
        )
        self._google = google
        self._tagged = tagged

    def learn(self, words: Sequence[bytes]) -> None:
        """Add words (UTF-8)."""
        from disambig.counts._kernels import insert_words

        while 2 * (self._n + len(words)) > len(self.entries):
            old = self.entries[self.entries[:, 0] != 0]
            self.entries = np.zeros((2 * len(self.entries), 2), dtype=np.uint64)
            insert_words(self.entries, old[:, 0].copy(), old[:, 1].copy())
        raw = np.fromiter(map(hash_word, words), dtype=np.uint64, count=len(words))
        self._n += insert_words(self.entries, raw, self._normal_hashes(words, raw))

    def _normal_hashes(self, words: Sequence[bytes], raw: NDArray[np.uint64]) -> NDArray[np.uint64]:
        from disambig.counts._kernels import TAGGED

        values = raw.copy() if self._tokenisation is None else self._tokenised_hashes(words)
        boundaries = _BOUNDARIES | _GOOGLE_BOUNDARIES if self._google else _BOUNDARIES
        for i, word in enumerate(words):
            if word in boundaries:
                values[i] = boundaries[word]
            elif self._google and b"_" in word and (match := _TAGGED.fullmatch(word)):
                values[i] = self._tagged_form(match) if self._tagged else TAGGED
        return values

    def _tokenised_hashes(self, words: Sequence[bytes]) -> NDArray[np.uint64]:
        from disambig.counts._kernels import CUT

        assert self._tokenisation is not None
        view = self._tokenisation([word.decode() for word in words])
        sizes = np.diff(view.documents)  # 3 tokens: one word and the two sentence boundaries
        middle = np.minimum(view.documents[:-1] + 1, max(len(view) - 1, 0))
        if not len(view):
            return np.full(len(words), CUT, dtype=np.uint64)
        return np.where(sizes == 3, view.hashes[middle], np.uint64(CUT))

    def _tagged_form(self, match: re.Match[bytes]) -> int:
        from disambig.counts._kernels import CUT

        if self._tokenisation is None or match[1] is None:
            return hash_word(match[0])
        form = self._tokenisation.words(match[1].decode())
        return hash_word(form[1].encode() + match[2]) if len(form) == 3 else CUT


_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 24
_PIECE_BYTES = 1 << 16
_ARPA = re.compile(rb"\\data\\\s", re.MULTILINE)
_HEAD_BYTES = 1 << 12
_PADDING = 16
_MISSING = 1 << 16
ALL_YEARS = (0, 10**18)
_PROBLEMS = (
    "",
    "there is no TAB",
    "the count is not a whole number above zero",
    "the words are not separated by single spaces",
    f"there are more than {MAX_ORDER} words",
    "there are more or fewer words than the name of the file or folder says",
    "the years and counts cannot be read",
    "the counts add up to more than a text can contain",
)
_FORMS = (
    "a line is an n-gram, a TAB and its count",
    "a line is an n-gram, year, match count and volume count, with TABs between",
    "a line is an n-gram and, each after a TAB, year,match count,volume count",
)


class CountReader:
    """Adds the contents of count files to a counter.

    `years` ((int, int)): the first and the last year to count, for Google Books.
    `tagged`: whether to keep n-grams of Google Books with part-of-speech tags.
    Attribute `left_out`: number of lines left out: ``"tagged"`` for a tag, ``"cut"`` for a word that the
    tokenisation splits.
    """

    def __init__(
        self, counter: NgramCounter, *, years: tuple[int, int] = ALL_YEARS, tagged: bool = False
    ) -> None:
        self.left_out = {"tagged": 0, "cut": 0}
        self._counter = counter
        self._years = np.array(years, dtype=np.uint64)
        self._tagged = tagged
        self._maps: dict[bool, WordMap | None] = {}
        self._size = -1
        self._missing = np.empty((_MISSING, 3), dtype=np.uint64)

    def read(self, path: str, order: int = 0, form: int | None = None) -> Iterator[int]:
        """Add the counts of one file; yield the number of bytes read from disk from time to time.

        Raises D114 (a malformed line, with its number), D118 (counts too large), D124 (a language model),
        D303 (binary), D304 (not UTF-8), D308 (cut short).

        `order`: number of words of all its n-grams, or 0 if it varies.
        `form`: number from `count_format`; by default the format that the first line matches.
        """
        form = count_format(path) if form is None else form
        n_lines = 0

        def refuse_long(data: bytes) -> int:
            if len(data) > _LONGEST_LINE:
                raise _malformed(path, n_lines + 1, "it has no line end", form)
            return 0

        with reading(path), open(path, "rb") as raw, unpacked(raw, path) as stream:
            for offset, block in whole_lines(stream, size=_BLOCK, cut_long=refuse_long):
                _check_utf8(block, path, offset)
                error, n_read = self._parse_lines(block, order, form)
                n_lines += n_read
                if error:
                    if offset <= len(BOM) and _ARPA.search(block, 0, _HEAD_BYTES):
                        raise UserError("D124", path=path)
                    raise _malformed(path, n_lines, _PROBLEMS[error], form)
                yield raw.tell()

    def _parse_lines(self, block: bytes, order: int, form: int) -> tuple[int, int]:
        """Add the counts of some lines; return the error code (0 for none) and the number of lines read."""
        google = form > 0
        if google not in self._maps:
            name = self._counter.tokenisations[0]
            is_unsplit = name in UNSPLIT_TOKENISATIONS and not google
            self._maps[google] = None if is_unsplit else WordMap(name, google=google, tagged=self._tagged)
        words = self._maps[google]
        error, n_read, n_missing, deferred = self._parse_block(block, order, form, words)
        passes = []
        # learn the new words, then parse their lines again
        while not error and n_missing and words is not None:
            spans = self._missing[:n_missing].tolist()
            words.learn(list({block[start:end] for _, start, end in spans}))
            passes.append((block, deferred))
            block = b"".join(block[start:end] for start, end in deferred.tolist())
            block += b"" if block.endswith(b"\n") else b"\n"
            error, line, n_missing, deferred = self._parse_block(block, order, form, words)
            if error:
                for earlier_block, bounds in reversed(passes):  # the number of this line in the first block
                    line = earlier_block.count(b"\n", 0, int(bounds[line - 1, 0])) + 1
                return error, line
        return error, n_read

    def _parse_block(
        self, block: bytes, order: int, form: int, words: WordMap | None
    ) -> tuple[int, int, int, NDArray[np.int64]]:
        """Parse lines of n-grams and counts with the compiled parser, and add their keys to the counts.

        Returns `error`: code of the error in the last line that was read, 0 if all are valid.
        `n_read`: number of lines that were read.
        `n_missing`: number of words that are not in `words`.
        `deferred` (int64 (n, 2)): start and end of the lines with such words, which are not counted yet.
        """
        from disambig.counts._kernels import parse

        counter = self._counter
        self._make_room(len(block), mapped=words is not None)
        self._data[: len(block)] = np.frombuffer(block, dtype=np.uint8)
        self._data[len(block) : len(block) + _PADDING] = ord("\n")
        tallies = np.zeros(6, dtype=np.int64)
        none = np.empty(0, dtype=np.uint64)
        error = parse(
            self._data,
            len(block),
            form,
            order,
            self._years,
            np.uint64(hash_word(counter.tokenisations[0])),
            counter.kept_words if counter.kept_words is not None else none,
            words.entries if words is not None else none.reshape(0, 2),
            self._keys,
            self._counts,
            self._orders,
            self._missing,
            self._deferred,
            tallies,
        )
        n, n_read, n_missing, n_deferred, cut, tagged = tallies.tolist()
        if not error:
            self._add(self._keys[:n], self._counts[:n], self._orders[:n])
        self.left_out["cut"] += cut
        self.left_out["tagged"] += tagged
        return error, n_read, n_missing, self._deferred[:n_deferred].copy()

    def _make_room(self, size: int, *, mapped: bool) -> None:
        """Allocate buffers for a block of `size` bytes.

        A line has at least four bytes, and the last one may lack its line end.
        """
        if size > self._size:
            self._size = size
            self._data = np.empty(size + _PADDING, dtype=np.uint8)
            self._keys, self._counts = np.empty((2, size // 4 + 2), dtype=np.uint64)
            self._orders = np.empty(size // 4 + 2, dtype=np.uint8)
            self._deferred = np.empty((0, 2), dtype=np.int64)
        if mapped and not len(self._deferred):
            self._deferred = np.empty((self._size // 4 + 2, 2), dtype=np.int64)

    def _add(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64], orders: NDArray[np.uint8]) -> None:
        for order in range(1, self._counter.orders + 1):
            has_order = orders == order
            if has_order.all():
                self._counter.add_counts(keys.copy(), counts.copy(), order)
                return
            if has_order.any():
                self._counter.add_counts(keys[has_order], counts[has_order], order)


def _malformed(path: str, line: int, problem: str, form: int) -> UserError:
    return UserError("D114", path=path, line=line, problem=problem, form=_FORMS[form])


def _check_utf8(block: bytes, path: str, offset: int) -> None:
    """Raise D303 or D304 if lines are not valid UTF-8; check small pieces, so that they stay in the cache."""
    start = 0
    while start < len(block):
        end = block.rfind(b"\n", start, start + _PIECE_BYTES) + 1
        end = end or block.find(b"\n", start) + 1 or len(block)
        piece = block[start:end]
        if not piece.isascii() or b"\0" in piece:
            decode(piece, path, start=offset + start)
        start = end


def import_table(
    path: str | os.PathLike[str],
    files: Sequence[tuple[str, int]],
    tokenisation: str,
    *,
    format: str | None = None,
    years: tuple[int, int] = ALL_YEARS,
    tagged: bool = False,
    **choices: Unpack[BuildOptions],
) -> Path:
    """Write a count table from count files; the counts of the same n-gram are added up.

    Raises `UserError` as for `CountReader.read`, `count_format` and `build_table`.

    `files` (sequence of (path, order)): from `count_files`.
    `tokenisation`: registry name of the tokenisation that gives the words their normal form (see `WordMap`).
    `format` ({"tsv", "google-v2", "google-v3"}): by default the format that the first line of each file
    matches.
    `years` and `tagged`: as for `CountReader`.
    `**choices`: see `BuildOptions`; n-grams longer than `orders` are left out, and pairs in `keep_words` have
    no effect.
    """
    refuse_existing(Path(path), force=choices.get("force", False))
    progress = choices.get("progress", no_progress)
    with make_counter([tokenisation], **choices) as counter:
        reader = CountReader(counter, years=years, tagged=tagged)
        before = 0
        for file, order in files:
            if order <= counter.orders:
                for n_bytes in reader.read(file, order, count_format(file, format)):
                    progress("count", before + n_bytes, None)
            before += os.path.getsize(file)
        if choices.get("keep_words") is not None:
            refuse_no_ngrams(counter.totals, choices["keep_words"])
        text_info: dict[str, Any] = {
            "sources": [{"name": os.path.basename(file), "bytes": os.path.getsize(file)} for file, _ in files]
        }
        if any(reader.left_out.values()):
            text_info["left_out"] = reader.left_out
        info = header_info({tokenisation: text_info}, **choices)
        return write_counter(path, counter, info=info, **choices)
