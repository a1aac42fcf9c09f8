"""Kana-to-kanji conversion: the task of choosing among a converter's candidates, and conversion for programs.

A `Conversion` has a converter, its domain and its reranker, and converts streams of lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from disambig.api import Decides, Group, Instances, Model, Tokenisation, TokenView, UserError, load_model
from disambig.api.packs import PackFolder, find_pack, packs, restore
from disambig.api.tasks import CandidateLists, decide_lists

from .converter import (
    N_CANDIDATES,
    Converter,
    converter_fingerprint,
    is_converter,
    list_domains,
    load_in_domain,
)

PACK = "disambig_ja"
CONVERTER, RERANKER = "converter", "kana_kanji"
CONVERTERS = PackFolder(CONVERTER, "converter", "`disambig adapt` or Converter.save", is_converter, PACK)
"""Converters by the name of their pack or folder."""


@dataclass(frozen=True)
class KanaKanji:
    """Choose the right conversion of each line of kana from a list of candidates (Gao, Suzuki and Yu 2006).

    Lists come from a converter (`lists`), or from n-best files that one wrote; running text has no
    decisions.

    Parameters
    ----------
    converter : str
        Folder of the converter (`Converter.save`), or the name of a pack with one, such as
        ``disambig_ja``; only `lists` needs it. A saved model stores a relative path.
    k : int
        Candidates per line.
    digest : str
        Fingerprint of the training converter (`converter_fingerprint`); other converters are rejected.
        By default training sets it. Empty: any converter.
    name, language : str
        Name and language of the task.

    Raises
    ------
    UserError
        D675 for an invalid k.
    """

    converter: str = ""
    k: int = 20
    digest: str = ""
    name: str = "kana_kanji"
    language: str = "ja"
    decides: ClassVar[Decides] = Decides("items", "lists")
    metric: ClassVar[tuple[str, None]] = ("cer", None)
    folders: ClassVar[tuple[str, ...]] = ("converter",)

    def __post_init__(self) -> None:
        N_CANDIDATES.check("k", self.k)

    @property
    def groups(self) -> tuple[Group, ...]:
        """One group; its candidates are those of each line."""
        return (Group(self.name, ()),)

    @property
    def folder(self) -> Path:
        """The converter's folder."""
        pack = find_pack(self.converter)
        return Path(self.converter) if pack is None else pack.folders.get("converter", pack.home)

    def learn_settings(
        self, labelled: Sequence[Any], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the fingerprint of the converter, if there is one and the config does not set it."""
        return {"digest": converter_fingerprint(self.folder)} if self.converter and not self.digest else {}

    def check(self, folder: Path, *, model: str = "") -> None:
        """Check that the converter in a folder is the one used in training.

        Raises D693, D674.
        """
        if self.digest and converter_fingerprint(folder) != self.digest:
            raise UserError("D693", model=model or self.name, converter=folder)

    def check_files(self) -> str:
        """Read the converter and its domains, and return a description of them.

        Raises D674, D655, D693 if they are damaged or do not fit together.
        """
        if not self.converter:
            return "names no converter"
        self.check(self.folder)
        converter, names = Converter.load(self.folder), list_domains(self.folder)
        for name in names:
            load_in_domain(converter, self.folder, name)
        note = f"; domains: {', '.join(names)}" if names else ""
        return f"converter of {len(converter.lexicon):,} words, {len(converter.background):,} n-grams{note}"

    def instances(self, view: TokenView) -> Instances:
        """Return no instances: lines of kana are items and do not occur in texts."""
        none = np.empty(0, np.int32)
        return Instances(np.empty(0, np.int64), none, none, none, CandidateLists.from_texts([]))

    def lists(self, lines: Sequence[str], *, references: Sequence[str] | None = None) -> CandidateLists:
        """Return the candidates of lines of kana, with costs if references are given.

        `disambig.api.training.train_candidates` learns from these lists, and
        `disambig.api.tasks.decide_lists` returns the best candidates.

        Raises D674 if there is no converter in the folder, D693 if it is not the one used in training.
        """
        return self._converter.nbest(lines, self.k, references=references)

    @cached_property
    def _converter(self) -> Converter:
        self.check(self.folder)
        return Converter.load(self.folder)


@dataclass(frozen=True, slots=True)
class ConverterLocation:
    """Folder of a converter, and of the model that reranks its candidates."""

    converter: Path
    reranker: Path | None = None

    def model(self) -> Model | None:
        """Return the reranking model, if there is one.

        Raises D693 if it was trained on another converter, D336 if it belongs to another task.
        """
        if self.reranker is None:
            return None
        model, task = _load_reranker(self.reranker)
        task.check(self.converter, model=str(self.reranker))
        return model


def _load_reranker(folder: Path) -> tuple[Model, KanaKanji]:
    """Return the model in a folder and its task."""
    model = load_model(folder)
    if not isinstance(model.task, KanaKanji):
        raise UserError("D336", model=model.name, task=model.task.name)
    return model, model.task


def locate_converter(name: str | Path) -> ConverterLocation:
    """Return the location of a converter by name: a pack, a folder, a model's name or folder.

    Raises D901 for an unknown name, D943 for the name of a file, D902 for a folder without a converter,
    D403 for a damaged pack.
    """
    if installed := find_pack(str(name)):
        return ConverterLocation(CONVERTERS.locate(name), installed.models.get(RERANKER))
    for pack in packs().values():
        for task, folder in pack.models.items():
            if str(name) in (task, f"{pack.name}/{task}"):
                return ConverterLocation(_load_reranker(folder)[1].folder, folder)
    path = Path(name)
    with suppress(OSError):
        restore(path)
    if (path / "model.json").is_file():
        return ConverterLocation(_load_reranker(path)[1].folder, path)
    converter = CONVERTERS.locate(path)
    model = path / RERANKER
    is_reranked = converter != path and (model / "model.json").is_file()
    return ConverterLocation(converter, model if is_reranked else None)


MIN_RERANKED = 20
"""Minimum number of candidates that are reranked."""


class ConversionCandidate(NamedTuple):
    """A conversion of a line."""

    text: str
    score: float  # higher is better: the score of the reranker or, without one, `base`
    base: float  # ln P, by the converter
    rank: int  # rank among the candidates by `base`, from 0
    # the words of the text, and their parts of speech
    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """Converts lines of kana to kanji."""

    converter: Converter
    reranker: Model | None = None  # reranks the candidates

    @classmethod
    def load(
        cls,
        name: str | Path = PACK,
        *,
        domain: str | None = None,
        rerank: bool = True,
        numbers: str | None = None,
    ) -> Conversion:
        """Return the converter of a pack or a folder.

        Parameters
        ----------
        name : str or path
            A pack, an output folder of `disambig adapt`, a model of the task kana_kanji, or a folder of a
            converter.
        domain : str, optional
            One of the converter's domains, such as ``"news"``.
        rerank : bool
            Whether candidates are reranked, if there is a model for it.
        numbers : {"kanji", "digits", "words"}, optional
            How numbers spelt out in kana are written (`ConverterSettings`); by default as the converter says.

        Raises
        ------
        UserError
            D671 for other numbers, D692, D693, D901, D902 and D943 for names, D674 and others for damaged
            files.
        """
        place = locate_converter(name)
        reranker = place.model() if rerank else None
        converter = Converter.load(place.converter)
        if numbers is not None:
            converter = replace(converter, settings=replace(converter.settings, numbers=numbers))
        if domain is not None:
            try:
                converter = load_in_domain(converter, place.converter, domain)
            except UserError as error:
                if error.code != "D692":
                    raise
                raise UserError(error.code, **(error.values | {"path": name})) from None
        return cls(converter, reranker)

    def prepare(self) -> None:
        """Build the tables and compile the functions, which the first line would otherwise wait for."""
        self.converter.best(["か"])

    def best(self, lines: Sequence[str]) -> list[str]:
        """Return the best conversion of each line."""
        if self.reranker is None:
            return self.converter.best(lines)
        lists = self.converter.nbest(lines, MIN_RERANKED)
        chosen = lists.offsets[:-1] + decide_lists(self.reranker, lists).chosen
        return [lists.texts[row] for row in chosen.tolist()]

    def nbest(self, lines: Sequence[str], k: int = 20) -> list[list[ConversionCandidate]]:
        """Return up to k best conversions of each line, the best first.

        Raises D675 for an invalid k, D677 for a string instead of a sequence of lines.
        """
        lists = self.converter.nbest(lines, k if self.reranker is None else max(k, MIN_RERANKED))
        scores = lists.scores
        if self.reranker is not None:
            scores = decide_lists(self.reranker, lists).scores.astype(np.float64)
        ranked = []
        for first, last in pairwise(lists.offsets.tolist()):
            order = first + np.argsort(-scores[first:last], kind="stable")[:k]
            ranked.append([self._candidate(lists, row, float(scores[row])) for row in order.tolist()])
        return ranked

    def _candidate(self, lists: CandidateLists, row: int, score: float) -> ConversionCandidate:
        words = lists.words
        return ConversionCandidate(
            lists.texts[row],
            score,
            float(lists.scores[row]),
            int(lists.ranks[row]),
            words.candidate_words(row) if words is not None else (),
            words.candidate_tags(row) if words is not None else (),
        )


Line = tuple[str, str]


def format_lines(
    conversion: Conversion, block: Sequence[Line], before: int, nbest: int | None, *, jsonl: bool
) -> str:
    """Return the output for some lines; `before` is the number of earlier lines.

    One line each; with `nbest` one line per candidate with line number, score and text; or JSON.
    """
    kana = [text for _, text in block]
    if nbest is None:
        return "".join(text + "\n" for text in conversion.best(kana))
    lists = conversion.nbest(kana, nbest)
    if jsonl:
        pairs = zip(block, lists, strict=True)
        records = ({"id": where, **line_record(text, candidates)} for (where, text), candidates in pairs)
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return "".join(
        f"{number}\t{candidate.score:.4f}\t{candidate.text}\n"
        for number, candidates in enumerate(lists, before + 1)
        for candidate in candidates
    )


def line_record(kana: str, candidates: Sequence[ConversionCandidate]) -> dict[str, Any]:
    """Return candidates in the format of `disambig train --lists`; the score is the converter's, ln P."""
    records = [
        {
            "text": candidate.text,
            "score": round(candidate.base, 6),
            "model_score": round(candidate.score, 6),
            "rank": candidate.rank,
            "words": candidate.words,
            "tags": candidate.tags,
        }
        for candidate in candidates
    ]
    return {"kana": kana, "candidates": records}
