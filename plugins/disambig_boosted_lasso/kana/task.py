"""The task ``kana_kanji``: choose the right conversion of a line of kana from a converter's candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, Tokenisation, TokenView, UserError
from disambig.api.packs import find_pack
from disambig.api.tasks import CandidateLists

from .converter import MOST, Converter, converter_fingerprint, list_domains, load_in_domain


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
    decides: ClassVar[Decides] = Decides("items", "own")
    metric: ClassVar[tuple[str, None]] = ("cer", None)
    folders: ClassVar[tuple[str, ...]] = ("converter",)

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not 1 <= self.k <= MOST:
            raise UserError("D675", setting="k", value=self.k, wanted=f"a whole number from 1 to {MOST:,}")

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

        Raises
        ------
        UserError
            D693, D674.
        """
        if self.digest and converter_fingerprint(folder) != self.digest:
            raise UserError("D693", model=model or self.name, converter=folder)

    def check_files(self) -> str:
        """Read the converter and its domains, and return a description of them.

        Raises
        ------
        UserError
            D674, D655, D693 if they are damaged or do not fit together.
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

        Raises
        ------
        UserError
            D674 if there is no converter in the folder, D693 if it is not the one used in training.
        """
        return self._converter.nbest(lines, self.k, references=references)

    @cached_property
    def _converter(self) -> Converter:
        self.check(self.folder)
        return Converter.load(self.folder)
