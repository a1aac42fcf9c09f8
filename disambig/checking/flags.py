"""Flags of a text, their lines and columns, and the directives in comments that hide flags."""

from __future__ import annotations

import difflib
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.checking.document_words import SURE, DocumentWords
from disambig.data import WORDS_PER_MISTAKE, edited_text, ignore_entries, plain_entry
from disambig.decision import edits_to_keep
from disambig.errors import UserError, nearest_first
from disambig.markup import BREAK, HTML_COMMENT, Layout, PlainText, path_format
from disambig.rules import Correction
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.data import Decisions, PrecisionEstimate
    from disambig.rules import RuleSet


_LINE_END = re.compile("\r\n|\r|\n")
_MARK = "\ufeff"
_BLANK = f" \t\r\n\f\v\u00a0{BREAK}{HIDDEN}"


class TextLines:
    """The lines of a text.

    Parameters
    ----------
    text : str
        A text with any line ends, including a byte order mark if it has one.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._text = text
        self._length = len(text)
        self._marked = text.startswith(_MARK)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, counted from 1; columns count characters."""
        line, start = self._find_line(offset)
        column = offset - start + 1
        return line, column - (1 if self._marked and line == 1 and column > 1 else 0)

    def in_utf16(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset; columns count UTF-16 units without byte order mark."""
        line, start = self._find_line(offset)
        before = self._text[start:offset].removeprefix(_MARK if start == 0 else "")
        return line, len(before.encode("utf-16-le")) // 2 + 1

    def in_utf8(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset; columns count the bytes of the line in the file."""
        line, start = self._find_line(offset)
        return line, len(self._text[start:offset].encode()) + 1

    def line_around(self, offset: int) -> tuple[int, int]:
        """Return the start and end, including its line end, of the line that contains `offset`."""
        line = bisect_right(self._starts, offset)
        return self._starts[line - 1], self._starts[line] if line < len(self._starts) else self._length

    def _find_line(self, offset: int) -> tuple[int, int]:
        """Return the number and the start of the line that contains `offset`."""
        line = bisect_right(self._starts, offset)
        return line, self._starts[line - 1]


_DIRECTIVE = re.compile(
    r"(?:<!--|%+|\.\.|#+'?|//+|\{?/\*+(?:\s+\*(?=\s))?|--+|;+|\{#|\{-)?\s*disambig\s*:\s*(.*?)"
    r"\s*(?:--+>|\*+/\}?|%%|#\}|-\})?\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A whole comment with a directive, in any of the comment syntaxes."""
_WRITTEN = (
    r"(disambig\s*:\s*(?:ignore-line|ignore-next-line|ignore-file|ignore(?=\s*\[|[ \t]+\w)|off|on)"
    r"(?:\s*\[[^\]\n]*\])?(?:[ \t]+\w[^\s,<>*]*(?:[ \t]*,[ \t]*\w[^\s,<>*]*)*)?)"
)
_BEHIND_TEXT = re.compile(
    rf"(?<=[^\s#/*;%!-])\s+{_WRITTEN}\s*(?:--+>|\*+/\}}?|%%|#\}}|-\}})?\s*\Z", re.IGNORECASE
)
"""A directive at the end of a comment, after other text."""
_LONGEST = 10_000
_LONGEST_BEHIND_TEXT = 300
_NAMED = ("task:", "rule:")
"""Prefixes of items that name a task or a rule instead of a word."""
_NAME_AND_RULES = re.compile(r"([^\s\[]*)\s*(?:\[([^\]]*)\])?(.*)", re.DOTALL)
_DIRECTIVES = ("ignore", "ignore-file", "ignore-line", "ignore-next-line", "off", "on")


@dataclass(frozen=True, slots=True)
class HiddenSpan:
    """A span of text in which a directive suppresses flags, for one item of the directive.

    Attributes
    ----------
    start, end : int
        Flags that begin between these offsets are suppressed.
    line : int
        Line of the comment, counted from 1.
    directive : str
        The directive, with this one item.
    word, rule : str
        Only flags of this word, as `plain_word` returns it, and of this rule or task; "" for any.
    is_behind_text : bool
        Whether the directive comes after text, or is in a paragraph in which it is not a comment. There it
        has no effect: the span is empty.
    """

    start: int
    end: int
    line: int
    directive: str
    word: str = ""
    rule: str = ""
    is_behind_text: bool = False

    def hides(self, start: int, observed: str, names: Collection[str]) -> bool:
        """Return True if a flag at `start` on the plain word `observed` is suppressed.

        Parameters
        ----------
        start : int
        observed : str
        names : collection of str
            Rules and tasks of the flag, in lower case.
        """
        inside = self.start <= start < self.end
        return inside and self.word in ("", observed) and (not self.rule or self.rule in names)


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives of one text.

    Attributes
    ----------
    hidden : tuple of HiddenSpan
        In the order of the comments.
    problems : tuple of UserError
        Invalid directives (D641).
    """

    hidden: tuple[HiddenSpan, ...] = ()
    problems: tuple[UserError, ...] = ()

    def hiding(self, start: int, observed: str, *names: str) -> list[HiddenSpan]:
        """Return the spans that suppress a flag of `observed` at `start`.

        Parameters
        ----------
        start : int
        observed : str
        *names : str
            The rule and the task of the flag, and those of its alternatives: suppressing one is enough.
        """
        word, plain_names = plain_word(observed), {name.lower() for name in names}
        return [span for span in self.hidden if span.hides(start, word, plain_names)]


def plain_word(word: str) -> str:
    """Normalise words for comparison: lower case, plain apostrophes, single spaces.

    A correction to ignore, ``written -> meant``, gets one space on each side of the arrow.
    """
    return plain_entry(word)


_NOTEBOOK = ".ipynb"
_ESCAPE = re.compile(r"\\(.)")


def read_directives(
    path: str, text: str, comments: Iterable[tuple[int, int]], places: TextLines, plain: str = ""
) -> Directives:
    """Return the directives in the comments of a text, given by their offsets.

    Parameters
    ----------
    path, text : str
    comments : iterable of (start, end)
    places : TextLines
        The lines of the text, for messages.
    plain : str
        The text without markup: in notebooks, the lines of cells are lines; in some formats, comments in a
        paragraph are text.
    """
    reader = _DirectiveReader(path, text, places)
    if path.lower().endswith(_NOTEBOOK) and plain:
        escaped = _ESCAPE.sub(lambda match: " \n" if match[1] == "n" else match[0], text)
        reader = _DirectiveReader(path, plain, places, TextLines(escaped))
    for start, end in comments:
        match = _DIRECTIVE.match(text[start : min(end, start + _LONGEST)])
        if match:
            reader.read(start, end, match[1])
        elif match := _BEHIND_TEXT.search(text, max(start, end - _LONGEST_BEHIND_TEXT), end):
            reader.add_behind_text(match.start(1), match[1])
    for start, directive in _directives_in_prose(path, text, plain):
        reader.add_behind_text(start, directive)
    return reader.done()


def _directives_in_prose(path: str, text: str, plain: str) -> Iterator[tuple[int, str]]:
    """Yield directives, with their offsets, that are written like comments where comments are text.

    In some formats a comment is a line of its own, or a paragraph of its own.
    """
    entry = path_format(path)
    if entry is None or entry.comment_place == "any" or "disambig" not in plain:
        return
    mark = re.escape(entry.comment[0].strip())
    for match in re.finditer(rf"(?<!\S){mark}[ \t]+{_WRITTEN}[ \t\r]*$", text, re.IGNORECASE | re.MULTILINE):
        if plain[slice(*match.span(1))] == match[1]:
            yield match.start(1), match[1]


class _DirectiveReader:
    """Reads the directives of one text in order."""

    def __init__(self, path: str, text: str, places: TextLines, lines: TextLines | None = None) -> None:
        self._path, self._text, self._end, self._places = path, text, len(text), places
        self._lines = lines or places  # of cells, in a notebook
        self._hidden: list[HiddenSpan] = []
        self._open: dict[tuple[str, str], HiddenSpan] = {}  # open `off` directives, by (word, rule)
        self._problems: list[UserError] = []

    def read(self, start: int, end: int, directive: str) -> None:
        """Read the directive in the comment from `start` to `end`."""
        what, items = _parse_directive(directive)
        line = self._places.line_and_column(start)[0]
        if what not in _DIRECTIVES or not items:
            self._problems.append(UserError("D641", path=self._path, line=line, said=directive[:40]))
        elif what == "on":
            self._switch_on(end, line, items)
        elif what == "off":
            for word, rule in items:
                span = HiddenSpan(start, self._end + 1, line, _shown(what, word, rule), word, rule)
                self._open.setdefault((word, rule), span)
        else:
            first, last = self._region(what, start, end)
            for word, rule in items:
                self._hidden.append(HiddenSpan(first, last, line, _shown(what, word, rule), word, rule))

    def add_behind_text(self, start: int, comment: str) -> None:
        """Record an unused span for a directive after text, which may be prose that mentions it."""
        line = self._places.line_and_column(start)[0]
        directive = " ".join(comment.partition(":")[2].split())
        self._hidden.append(HiddenSpan(start, start, line, directive, is_behind_text=True))

    def done(self) -> Directives:
        """Return the directives; an `off` without `on` applies up to the end of the text."""
        hidden = sorted([*self._hidden, *self._open.values()], key=lambda span: span.line)
        return Directives(tuple(hidden), tuple(self._problems))

    def _region(self, what: str, start: int, end: int) -> tuple[int, int]:
        if what == "ignore-line":
            return self._lines.line_around(start)
        if what == "ignore-next-line":
            return self._next_line(max(start, end - 1))
        return 0, self._end + 1

    def _next_line(self, offset: int) -> tuple[int, int]:
        """Return the first line after that of `offset` that is not blank; an empty span if there is none."""
        start = self._lines.line_around(offset)[1]
        while start < self._end:
            first, last = self._lines.line_around(start)
            if first < start:  # the text ends without a line end
                break
            if self._text[first:last].strip(_BLANK):
                return first, last
            start = last
        return self._end, self._end

    def _switch_on(self, end: int, line: int, items: list[tuple[str, str]]) -> None:
        """End the open `off` directives, all or those of `items`; without any, record an unused span."""
        for item in items:
            ended = list(self._open) if item == ("", "") else [item] if item in self._open else []
            self._hidden += [replace(self._open.pop(key), end=end) for key in ended]
            if not ended:
                self._hidden.append(HiddenSpan(end, end, line, _shown("on", *item), *item))


def _parse_directive(directive: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the name of a directive and its items as (word, rule); no items if the directive is invalid."""
    match = _NAME_AND_RULES.fullmatch(directive)
    assert match is not None  # it matches every text
    what, listed, rest = match[1].lower(), match[2], match[3].strip()
    rules = [_without_prefix(name) for name in (listed or "").lower().split(",")]
    rules = [name for name in rules if name]
    if rest.startswith("["):  # it is not closed
        return what, []
    if not rest and not rules:
        return what, [] if what == "ignore" or listed is not None else [("", "")]
    words: list[str] = []
    named: list[str] = []
    for item in map(plain_word, rest.split(",")):
        (named if item.startswith(_NAMED) else words).append(_without_prefix(item))
    words = [word for word in words if word]
    named += rules if not words else []
    items = [(word, rule) for word in words for rule in rules or [""]]
    return what, items + [("", name) for name in named if name]


def _without_prefix(item: str) -> str:
    """Return an item of a directive without the prefix that says that it names a rule or task."""
    item = item.strip()
    prefix = next((prefix for prefix in _NAMED if item.startswith(prefix)), "")
    return item.removeprefix(prefix).strip()


def _shown(what: str, word: str, rule: str) -> str:
    return f"{what}{f'[{rule}]' if rule else ''}{f' {word}' if word else ''}"


_LIKE_A_NAME = 0.8
"""Similarity from which a word to ignore may have been meant as the name of a rule or task."""


_OWN_PLACES = {
    "any": "after text of its comment: write it as a comment of its own",
    "line": "after text: write it as a comment of its own, in a line of its own",
    "paragraph": "in a paragraph or after text: write it as a comment of its own, between paragraphs",
    "block": "in a paragraph or after text: write it as a comment of its own, between blank lines",
}
"""What is wrong with the place of a directive, and where it belongs, by `MarkupFormat.comment_place`."""


def unused_directive(path: str, span: HiddenSpan, names: Collection[str]) -> UserError:
    """Return the note (D960) about a directive that does not suppress any flag.

    Parameters
    ----------
    path : str
    span : HiddenSpan
    names : collection of str
        Rules and tasks that a directive may name (see `selectable_names`); the note names the nearest ones
        if the directive names another rule, or a word that is spelled nearly like one of them.
    """
    selectable = {name.lower() for name in names}
    advice = "remove it"
    if span.is_behind_text:
        before, after = HTML_COMMENT if (entry := path_format(path)) is None else entry.comment
        own = f"{before}disambig: {span.directive}{after}"
        where = _OWN_PLACES["any" if entry is None else entry.comment_place]
        advice = f"it is {where}, {own}"
    elif span.rule and span.rule not in selectable:
        available = nearest_first(span.rule, selectable)
        advice = f"there is no rule or task {span.rule!r}: correct it; available: {available}"
    elif near := difflib.get_close_matches(span.word, sorted(selectable), 3, _LIKE_A_NAME):
        rules = " or ".join(f"ignore[{name}]" for name in near)
        advice = f"{span.word!r} is read as a word: for a rule or task, write {rules}; otherwise, remove it"
    elif " " in span.word and " -> " not in span.word:
        advice = (
            f"{span.word!r} is read as the words to ignore, which commas separate: if it is text, write it "
            "in another comment; otherwise, remove the directive"
        )
    where = f"{path}, line {span.line:,}: "  # an editor, which shows the note at the comment, leaves it out
    return UserError("D960", where=where, path=path, line=span.line, said=span.directive, advice=advice)


@dataclass(frozen=True, slots=True, repr=False)
class Flag:
    """A word that is probably wrong.

    Attributes
    ----------
    start, end : int
        Offsets into the text of the file.
    line, column : int
        Counted from 1; columns count characters.
    observed, replacement : str
        The written word and its replacement, in the same case; "" for no word.
    task : str
        Task of the model that raised it.
    probability : float
        Probability that the replacement is right, as the model estimates it.
    edit : (start, end, text)
        The edit that corrects the word; it may add or remove a space with the word. The layout of a table or
        title may need further edits (see `disambig.markup.Layout`).
    alternatives : tuple of dict
        Replacements of less certain tasks, in the form of records.
    trust : PrecisionEstimate, optional
        The measured share of right flags among those that are at least as certain.
    rule : str
        Name of what is wrong (see `disambig.rules`); by default the task.
    """

    start: int
    end: int
    line: int
    column: int
    observed: str
    replacement: str
    task: str
    probability: float
    edit: tuple[int, int, str]
    alternatives: tuple[dict[str, Any], ...] = ()
    trust: PrecisionEstimate | None = None
    rule: str = ""

    def __post_init__(self) -> None:
        if not self.rule:
            object.__setattr__(self, "rule", self.task)

    def __repr__(self) -> str:
        """Return the place, the words, the rule and the measured share of such flags that are right."""
        words = f"{self.observed!r} -> {self.replacement!r}"
        return f"<Flag {self.line}:{self.column} {words}, {self.label}>"

    @property
    def label(self) -> str:
        """The rule and, if it was measured, how often such flags are right: ``a-an, 98 % right``."""
        return self.rule if self.trust is None else f"{self.rule}, {self.trust} right"

    @property
    def names(self) -> tuple[str, ...]:
        """The rules and tasks by which a directive can suppress it: its own, and those of alternatives."""
        here = [
            alternative
            for alternative in self.alternatives
            if alternative["start"] <= self.end and self.start <= alternative["end"]
        ]
        others = [alternative.get(key, "") for alternative in here for key in ("rule", "task")]
        return tuple(dict.fromkeys(filter(None, (self.rule, self.task, *others))))


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The flags of one text.

    Attributes
    ----------
    flags : tuple of Flag
        In text order.
    words : int
        Number of words of the text.
    left_out : int
        Number of flags above the maximum.
    problems : tuple of UserError
        Invalid directives.
    unused : tuple of HiddenSpan
        Directives that do not suppress any flag.
    """

    flags: tuple[Flag, ...]
    words: int
    left_out: int = 0
    problems: tuple[UserError, ...] = ()
    unused: tuple[HiddenSpan, ...] = ()


def find_flags(
    path: str,
    text: str,
    plain: PlainText,
    decisions: Sequence[Decisions],
    *,
    ignore: Collection[str] = (),
    project_names: Collection[str] = (),
    most_per_1000: float | None = None,
) -> CheckedText:
    """Return the flags of one text.

    Parameters
    ----------
    path : str
        Name of the file, for messages.
    text : str
        The text of the file.
    plain : PlainText
        The text without markup, to which the decisions refer.
    decisions : sequence of Decisions
        One per task, of this text only, without overlapping flags (`disambig.decision.resolve_overlaps`).
    ignore : collection of str
        Normalised words and corrections to ignore (see `plain_word`).
    project_names : collection of str
        Names of the project, in lower case: a verb after "pandas" is not flagged for its number.
    most_per_1000 : float, optional
        Maximum number of flags per 1,000 words, rounded up.
    """
    from disambig.formats import count_words

    places = TextLines(text)
    directives = read_directives(path, text, plain.comments, places, plain.text)
    document = DocumentWords(text, plain, project_names)
    flags = []
    used: set[HiddenSpan] = set()
    rules = {of_task.task: of_task.rules for of_task in decisions}
    for record, of_task in _flagged_records(decisions, plain.text):
        start, end = record["start"], record["end"]
        observed = plain.text[start:end]
        is_written = observed == text[start:end] or (plain.file_offset(end) > end and HIDDEN not in observed)
        if record["replacement"] == record["observed"] or not is_written:
            continue  # a label, or a pair of words with markup between them
        if ignore and any(
            entry in ignore for entry in ignore_entries(plain.text, start, end, record["replacement"])
        ):
            continue
        flag = _make_flag(record, of_task, text, plain, places, rules)
        if hiding := directives.hiding(start, observed, *flag.names):
            used.update(hiding)
            continue
        if flag.probability < SURE and document.is_own(observed, record["replacement"].strip(), end):
            continue
        if document.is_behind_plural_name(observed, record["replacement"].strip(), end):
            continue
        flags.append(flag)
    words = count_words(plain.text)
    kept = surest(flags, words, most_per_1000)
    unused = tuple(span for span in directives.hidden if span not in used)
    return CheckedText(tuple(kept), words, len(flags) - len(kept), directives.problems, unused)


def _make_flag(
    record: dict[str, Any],
    decisions: Decisions,
    text: str,
    plain: PlainText,
    places: TextLines,
    rules: Mapping[str, RuleSet | None],
) -> Flag:
    """Return the flag of a record; `rules` has those of each task, for the alternatives."""
    from disambig.data import record_edit

    sure, task = record["probability"], record["task"]
    observed = plain.text[record["start"] : record["end"]]
    chosen = as_written(record["replacement"], text).strip()
    placed = _in_file(record, text, plain)
    start, end = placed["start"], placed["end"]
    made = record_edit(placed, text)
    alternatives = []
    for alternative in (*record["alternatives"], *_removal(placed, text)):
        other = rules.get(alternative["task"])
        written = plain.text[alternative["start"] : alternative["end"]].rstrip(HIDDEN)
        alternatives.append(
            {
                **_in_file(alternative, text, plain),
                "rule": other.rule_name(Correction.plain(written, alternative["replacement"]))
                if other
                else alternative["task"],
            }
        )
    return Flag(
        start,
        end,
        *places.line_and_column(start),
        observed,
        chosen,
        task,
        sure,
        (made["start"], made["end"], made["replacement"]),
        tuple(alternatives),
        None if decisions.trust is None else decisions.trust.estimate(observed, chosen, sure),
        record["rule"],
    )


def _in_file(record: dict[str, Any], text: str, plain: PlainText) -> dict[str, Any]:
    """Return a record or alternative with its offsets into the file, and apostrophes as the file has them."""
    start, end = plain.file_offset(record["start"]), plain.file_offset(record["end"])
    new = as_written(record["replacement"], text)
    if reference := plain.reference_in(start, end):
        new = new.replace("\u2019", "'").replace("'", text[slice(*reference)])
    return {**record, "start": start, "end": end, "replacement": new}


REMOVAL = 0.02
"""Probability at which the removal of a repeated word is shown beside another correction of it."""


def _removal(record: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the removal of a repeated word as an alternative, if another word is proposed in its place.

    In "is is better", one word may be a slip for "it", or one too many. Both are shown, however improbable
    the second one is, because only the writer knows.
    """
    candidates = {name for name, _ in record["candidates"]}
    if not record["replacement"] or "" not in candidates:
        return []
    start, end = record["start"], record["end"]
    before, behind = text[max(0, start - 80) : start].split()[-1:], text[end : end + 80].split(None, 1)[:1]
    if record["observed"].lower() not in (word.lower() for word in (*before, *behind)):
        return []
    return [{"task": record["task"], "start": start, "end": end, "replacement": "", "probability": REMOVAL}]


def surest(flags: Sequence[Flag], words: int, most_per_1000: float | None) -> list[Flag]:
    """Return the most certain flags of a text, in text order: at most `most_per_1000`, rounded up."""
    most = len(flags) if most_per_1000 is None else math.ceil(most_per_1000 * words / 1000)
    return sorted(sorted(flags, key=_surest_first)[:most], key=_in_order)


LIKELY = 0.5
"""Share of right flags from which on a correction is made without a look at it."""


def is_likely_right(flag: Flag, writing: str | None = None) -> bool:
    """Return True if most flags of this kind were right, or if that was not measured.

    Parameters
    ----------
    flag : Flag
    writing : str, optional
        Who wrote the text (see `disambig.data.WORDS_PER_MISTAKE`). The measurement was on edited text: if the
        writer makes many mistakes, it says too little.
    """
    makes_many = writing is not None and WORDS_PER_MISTAKE[writing] <= WORDS_PER_MISTAKE["draft"]
    return makes_many or flag.trust is None or flag.trust.share >= LIKELY


def choose(flags: Iterable[Flag]) -> tuple[list[Flag], list[Flag]]:
    """Return the flags that can be corrected together and the remaining ones, both in text order.

    Flags over several lines are not corrected. Of flags that overlap, as they may in a selection from several
    sources, those that `disambig.decision.edits_to_keep` keeps are corrected.
    """
    within: list[Flag] = []
    left: list[Flag] = []
    for flag in flags:
        (left if "\n" in flag.observed or "\r" in flag.observed else within).append(flag)
    edits = [flag.edit for flag in within]
    kept = edits_to_keep(edits, [flag.probability for flag in within], [flag.task for flag in within])
    left += [within[i] for i in set(range(len(within))) - set(kept)]
    return [within[i] for i in kept], sorted(left, key=_in_order)


def fitting(flags: Sequence[Flag], layout: Layout) -> list[Flag]:
    """Return the flags whose corrections, such as those of `choose`, fit into the tables of a text."""
    fits = layout.fits([flag.edit for flag in flags])
    return [flag for flag, fit in zip(flags, fits, strict=True) if fit]


def corrected(text: str, flags: Sequence[Flag], layout: Layout | None = None) -> str:
    """Return `text` with the edits of flags that do not overlap, such as those of `choose`.

    Parameters
    ----------
    text : str
    flags : sequence of Flag
    layout : Layout, optional
        What the edits must keep; they fit into it (see `fitting`).
    """
    edits = [flag.edit for flag in flags]
    further = [] if layout is None else layout.further(edits)
    return edited_text(text, sorted([*edits, *further], key=lambda edit: edit[:2]))


def _surest_first(flag: Flag) -> tuple[float, int, int, str]:
    return -flag.probability, flag.start, flag.end, flag.task


def _in_order(flag: Flag) -> tuple[int, int, float, str]:
    return flag.start, flag.end, -flag.probability, flag.task


def _flagged_records(decisions: Sequence[Decisions], text: str) -> list[tuple[dict[str, Any], Decisions]]:
    import numpy as np

    return [
        (of_task.record(int(i), text), of_task)
        for of_task in decisions
        for i in np.flatnonzero(of_task.flagged)
    ]


def as_written(replacement: str, text: str) -> str:
    """Return `replacement` with curly apostrophes if the text mostly uses them."""
    if "'" in replacement and "\u2019" in text and text.count("\u2019") > text.count("'"):
        return replacement.replace("'", "\u2019")
    return replacement
