"""The flags of a text that is being edited, as a run of the linter would find them in the file."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from disambig.checking.baseline import Baseline, read_baseline
from disambig.checking.directives import plain_word
from disambig.checking.flags import Checked, Flag, flags_of, surest
from disambig.checking.live.decided import Decided
from disambig.checking.live.paragraphs import Paragraphs, Part
from disambig.configuration.settings import Settings
from disambig.text.markup import MARKDOWN, PlainText, read_markup

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate
    from disambig.data.decisions import Decisions


class LiveText:
    """A text that is checked again after each change. It belongs to one thread at a time.

    Parameters
    ----------
    name : str
        Path of its file, or a made-up one: the suffix tells the markup.
    settings : Settings
        What holds for it. Its models are `annotate`.
    annotate : Annotate
        The models, as `disambig.checking.loading.load_checker` loads them.

    Attributes
    ----------
    plain : PlainText
        What was decided last time.
    decisions : sequence of Decisions
        Those of the last time that raise a flag, a task each; none at all where there is no such decision.

    Raises
    ------
    UserError
        D30x for a file of words or a baseline that cannot be read, D966 for what is no baseline.
    """

    def __init__(self, name: str, settings: Settings, annotate: Annotate) -> None:
        self.name = name
        self.settings = settings
        self.annotate = annotate
        self.plain = PlainText("")
        self.decisions: Sequence[Decisions] = ()
        self._ignore = frozenset(map(plain_word, settings.words_to_ignore()))
        self._baseline: Baseline | None = (
            None if settings.baseline is None else read_baseline(settings.baseline)
        )
        self._read = reader_of(name)
        self._paragraphs = Paragraphs()
        self._parts: list[Part] = []
        self._decided = Decided(annotate)

    def check(self, text: str, stop: Callable[[], bool] = lambda: False) -> Checked | None:
        """Return the flags of the text as it is now; None where `stop` told to leave it.

        Parameters
        ----------
        stop : callable
            Asked now and then, in a text of which much is to be decided.
        """
        plain = self._read(text)
        parts = [] if self.settings.excluded else self._paragraphs.of(plain.text)
        decisions = self._decided.of(plain.text, parts, stop)
        if decisions is None:
            return None
        self.plain, self.decisions, self._parts = plain, decisions, parts
        checked = flags_of(self.name, text, plain, decisions, ignore=self._ignore)
        flags: Sequence[Flag] = checked.flags
        if self._baseline is not None:
            flags = self._baseline.unknown(self.name, plain.text, flags)
        shown = surest(flags, checked.words, self.settings.max_flags_per_1000)
        return replace(checked, flags=tuple(shown), left_out=len(flags) - len(shown))

    def around(self, offset: int) -> tuple[str, int]:
        """Return what was decided together with a place of the text of last time, and where that begins."""
        at = bisect_right(self._parts, offset, key=lambda part: part.start) - 1
        part = self._parts[at]
        return self.plain.text[part.first : part.last], part.first


def reader_of(name: str) -> Callable[[str], PlainText]:
    """Return what reads the markup of a text of that name, again and again."""
    if os.path.splitext(name)[1].lower() in MARKDOWN:
        from disambig.text.markup.markdown_pieces import MarkdownPieces

        pieces = MarkdownPieces()
        return lambda text: PlainText(*pieces.read(text))
    return lambda text: read_markup(name, text)
