"""Flags of a text, their lines and columns, and the directives in comments that hide flags."""

from __future__ import annotations

import difflib
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.checking.document_words import CERTAIN_PROBABILITY, DocumentWords
from disambig.data import WORDS_PER_MISTAKE, edited_text, is_ignored, plain_word, record_edit
from disambig.decision import edits_to_keep
from disambig.errors import UserError, nearest_first
from disambig.markup import BREAK, HTML_COMMENT, Layout, PlainText, path_format
from disambig.rules import Correction
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.data import Decisions, PrecisionEstimate
    from disambig.rules import RuleSet


_LINE_END = re.compile("\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"
_BLANK = f" \t\r\n\f\v\u00a0{BREAK}{HIDDEN}"


class TextLines:
    """The lines of a text. `text` is a text with any line ends, including a byte order mark if it has one."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._text = text
        self._has_byte_order_mark = text.startswith(_BYTE_ORDER_MARK)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, counted from 1; columns count characters."""
        line, start = self._find_line(offset)
        column = offset - start + 1
        return line, column - (1 if self._has_byte_order_mark and line == 1 and column > 1 else 0)

    def in_utf16(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset; columns count UTF-16 units without byte order mark."""
        line, start = self._find_line(offset)
        before = self._text[start:offset].removeprefix(_BYTE_ORDER_MARK if start == 0 else "")
        return line, len(before.encode("utf-16-le")) // 2 + 1

    def in_utf8(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset; columns count the bytes of the line in the file."""
        line, start = self._find_line(offset)
        return line, len(self._text[start:offset].encode()) + 1

    def line_around(self, offset: int) -> tuple[int, int]:
        """Return the start and end, including its line end, of the line that contains `offset`."""
        line = bisect_right(self._starts, offset)
        return self._starts[line - 1], self._starts[line] if line < len(self._starts) else len(self._text)

    def _find_line(self, offset: int) -> tuple[int, int]:
        """Return the number and the start of the line that contains `offset`."""
        line = bisect_right(self._starts, offset)
        return line, self._starts[line - 1]


_DIRECTIVE = re.compile(
    r"(?:<!--|<%[-_]?#|\{\{[-~]?\s*(?:!(?:--)?|/\*)|%+|\.\.|#+'?|//+|\{?/\*+(?:\s+\*(?=\s))?|--+|;+|\{#-?|\{-"
    r"|\{\*|\(\*+|#=|#+\[|/\++|\{|!+|'+|\"|::+|@?rem\b|dnl\b|[c*]\s)?"
    r"\s*disambig\s*:\s*(.*?)\s*"
    r"(?:--+>|(?:\*/\s*)?-{0,2}~?\}\}|[-_]?%>|\*+/\}?|\*+\)|=#|%%|-?#\}|\*\}|-\}|\]#+|\++/|###|\})?\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A comment that consists of a directive, in any of the comment syntaxes."""
_DIRECTIVE_TEXT = (
    r"(disambig\s*:\s*(?:ignore-line|ignore-next-line|ignore-file|ignore(?=\s*\[|[ \t]+\w)|off|on)"
    r"(?:\s*\[[^\]\n]*\])?(?:[ \t]+\w[^\s,<>*]*(?:[ \t]*,[ \t]*\w[^\s,<>*]*)*)?)"
)
_TRAILING_DIRECTIVE = re.compile(
    rf"(?<=[^\s#/*;%!-])\s+{_DIRECTIVE_TEXT}\s*(?:--+>|\*+/\}}?|%%|#\}}|-\}})?\s*\Z", re.IGNORECASE
)
"""A directive at the end of a comment, after other text."""
_MAX_COMMENT = 10_000
"""Number of characters of a comment that are searched for a directive."""
_MAX_TRAILING = 300
"""Number of characters at the end of a comment that are searched for a trailing directive."""
_NAME_PREFIXES = ("task:", "rule:")
"""Prefixes of items that name a task or a rule instead of a word."""
_NAME_AND_RULES = re.compile(r"([^\s\[]*)\s*(?:\[([^\]]*)\])?(.*)", re.DOTALL)
_DIRECTIVES = ("ignore", "ignore-file", "ignore-line", "ignore-next-line", "off", "on")


@dataclass(frozen=True, slots=True)
class HiddenSpan:
    """A span of text in which a directive suppresses flags, for one item of the directive."""

    # flags that begin between these offsets are suppressed
    start: int
    end: int
    line: int  # line of the comment, counted from 1
    directive: str  # the directive, with this one item
    # only flags on this word, as `plain_word` returns it, and of this rule or task; "" for any
    word: str = ""
    rule: str = ""
    # Whether the directive has no effect because it follows text, or is in a paragraph in which it is not a
    # comment. Its span is empty
    follows_text: bool = False

    def hides(self, start: int, observed: str, names: Collection[str]) -> bool:
        """Return True if the span suppresses a flag with a plain word, and names in lower case."""
        inside = self.start <= start < self.end
        return inside and self.word in ("", observed) and (not self.rule or self.rule in names)


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives of one text."""

    hidden: tuple[HiddenSpan, ...] = ()  # in the order of the comments
    problems: tuple[UserError, ...] = ()  # invalid directives (D641)

    def hiding(self, start: int, observed: str, *names: str) -> list[HiddenSpan]:
        """Return the spans that suppress a flag, by its word or by one of its `names` (see `Flag.names`)."""
        word, plain_names = plain_word(observed), {name.lower() for name in names}
        return [span for span in self.hidden if span.hides(start, word, plain_names)]


_NOTEBOOK = ".ipynb"
_ESCAPE = re.compile(r"\\(.)")


def read_directives(
    path: str, text: str, comments: Iterable[tuple[int, int]], lines: TextLines, plain: str = ""
) -> Directives:
    """Return the directives in the comments of a text.

    The text without markup (`plain`) is needed for notebooks, where directives refer to the lines of cells,
    and for formats in which a comment inside a paragraph is text.
    """
    reader = _DirectiveReader(path, text, lines, lines)
    if path.lower().endswith(_NOTEBOOK) and plain:
        cell_lines = TextLines(_ESCAPE.sub(lambda match: " \n" if match[1] == "n" else match[0], text))
        reader = _DirectiveReader(path, plain, lines, cell_lines)
    for start, end in comments:
        if match := _DIRECTIVE.match(text[start : min(end, start + _MAX_COMMENT)]):
            reader.read(start, end, match[1])
        elif match := _TRAILING_DIRECTIVE.search(text, max(start, end - _MAX_TRAILING), end):
            reader.add_trailing(match.start(1), match[1])
    for start, directive in _directives_in_prose(path, text, plain):
        reader.add_trailing(start, directive)
    return reader.done()


def _directives_in_prose(path: str, text: str, plain: str) -> Iterator[tuple[int, str]]:
    """Yield the offsets and texts of directives in places where the format does not allow a comment.

    In some formats, a comment must be a line or a paragraph of its own.
    """
    entry = path_format(path)
    if entry is None or entry.comment_place == "any" or "disambig" not in plain:
        return
    mark = re.escape(entry.comment[0].strip())
    for match in re.finditer(
        rf"(?<!\S){mark}[ \t]+{_DIRECTIVE_TEXT}[ \t\r]*$", text, re.IGNORECASE | re.MULTILINE
    ):
        if plain[slice(*match.span(1))] == match[1]:
            yield match.start(1), match[1]


class _DirectiveReader:
    """Reads the directives of one text in order.

    `lines`: the lines of the file, for messages.
    `target_lines`: the lines to which directives refer: in a notebook, those of its cells.
    """

    def __init__(self, path: str, text: str, lines: TextLines, target_lines: TextLines) -> None:
        self._path, self._text, self._end = path, text, len(text)
        self._lines, self._target_lines = lines, target_lines
        self._hidden: list[HiddenSpan] = []
        self._open: dict[tuple[str, str], HiddenSpan] = {}  # open `off` directives, by (word, rule)
        self._problems: list[UserError] = []

    def read(self, start: int, end: int, directive: str) -> None:
        """Read the directive in the comment from `start` to `end`."""
        name, items = _parse_directive(directive)
        line = self._lines.line_and_column(start)[0]
        if name not in _DIRECTIVES or not items:
            meant = _meant_directive(name, directive)
            self._problems.append(
                UserError("D641", path=self._path, line=line, said=directive[:40], meant=meant)
            )
        elif name == "on":
            self._switch_on(end, line, items)
        elif name == "off":
            for item in items:
                span = HiddenSpan(start, self._end + 1, line, _format_directive(name, *item), *item)
                self._open.setdefault(item, span)
        else:
            region = self._region(name, start, end)
            self._hidden += [
                HiddenSpan(*region, line, _format_directive(name, *item), *item) for item in items
            ]

    def add_trailing(self, start: int, comment: str) -> None:
        """Record an empty span for a directive that follows text, which may be prose that mentions it."""
        line = self._lines.line_and_column(start)[0]
        directive = " ".join(comment.partition(":")[2].split())
        self._hidden.append(HiddenSpan(start, start, line, directive, follows_text=True))

    def done(self) -> Directives:
        """Return the directives; an `off` without an `on` applies up to the end of the text."""
        hidden = sorted([*self._hidden, *self._open.values()], key=lambda span: span.line)
        return Directives(tuple(hidden), tuple(self._problems))

    def _region(self, name: str, start: int, end: int) -> tuple[int, int]:
        """Return the span in which an `ignore` directive in the comment from `start` to `end` applies."""
        if name == "ignore-line":
            return self._target_lines.line_around(start)
        if name == "ignore-next-line":
            return self._next_line(max(start, end - 1))
        return 0, self._end + 1

    def _next_line(self, offset: int) -> tuple[int, int]:
        """Return the first non-blank line after the line of `offset`; an empty span if there is none."""
        start = self._target_lines.line_around(offset)[1]
        while start < self._end:
            first, last = self._target_lines.line_around(start)
            if first < start:  # the text ends without a line end
                break
            if self._text[first:last].strip(_BLANK):
                return first, last
            start = last
        return self._end, self._end

    def _switch_on(self, end: int, line: int, items: list[tuple[str, str]]) -> None:
        """End the open `off` directives of `items`; record an empty span for an item without one.

        The item ("", "") ends all of them.
        """
        for item in items:
            ended = list(self._open) if item == ("", "") else [item] if item in self._open else []
            self._hidden += [replace(self._open.pop(key), end=end) for key in ended]
            if not ended:
                self._hidden.append(HiddenSpan(end, end, line, _format_directive("on", *item), *item))


def _parse_directive(directive: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the name of a directive and its items as (word, rule); no items if the directive is invalid."""
    match = _NAME_AND_RULES.fullmatch(directive)
    assert match is not None  # it matches every text
    name, bracketed, rest = match[1].lower(), match[2], match[3].strip()
    rules = list(filter(None, map(_without_prefix, (bracketed or "").lower().split(","))))
    if rest.startswith("["):  # the bracket is not closed
        return name, []
    if not rest and not rules:
        return name, [] if name == "ignore" or bracketed is not None else [("", "")]
    words: list[str] = []
    prefixed: list[str] = []  # rules and tasks that are listed among the words
    for item in map(plain_word, rest.split(",")):
        (prefixed if item.startswith(_NAME_PREFIXES) else words).append(_without_prefix(item))
    words = list(filter(None, words))
    items = [(word, rule) for word in words for rule in rules or [""]]
    return name, items + [("", rule) for rule in prefixed + ([] if words else rules) if rule]


def _meant_directive(name: str, directive: str) -> str:
    """Return what an invalid directive may have been meant to be, as the beginning of advice."""
    if name in _DIRECTIVES:
        if name == "ignore":
            return "ignore needs a word or a rule, as in `ignore WORD` and `ignore [RULE]`; "
        return f"name a rule in brackets, as in `{name} [RULE]`, or leave the brackets out; "
    # what other linters call them
    other = {"disable": "off", "enable": "on"}.get(name, name.replace("disable-", "ignore-"))
    nearest = difflib.get_close_matches(other, sorted(_DIRECTIVES), n=1, cutoff=0.6)
    return f"did you mean {(nearest[0] + directive[len(name) :])[:40]!r}? " if nearest else ""


def _without_prefix(item: str) -> str:
    """Return an item of a directive without the prefix that marks the name of a rule or task."""
    item = item.strip()
    prefix = next((prefix for prefix in _NAME_PREFIXES if item.startswith(prefix)), "")
    return item.removeprefix(prefix).strip()


def _format_directive(name: str, word: str, rule: str) -> str:
    return f"{name}{f'[{rule}]' if rule else ''}{f' {word}' if word else ''}"


_MIN_NAME_SIMILARITY = 0.8
"""A word to ignore that is at least this similar to the name of a rule or task may be meant as that name."""


_MISPLACED = {
    "any": "after text of its comment: write it as a comment of its own",
    "line": "after text: write it as a comment of its own, in a line of its own",
    "paragraph": "in a paragraph or after text: write it as a comment of its own, between paragraphs",
    "block": "in a paragraph or after text: write it as a comment of its own, between blank lines",
}
"""Why a directive has no effect where it is, and where it belongs, by `MarkupFormat.comment_place`."""


def unused_directive(path: str, span: HiddenSpan, names: Collection[str]) -> UserError:
    """Return the note (D960) about a directive that does not suppress any flag.

    `names`: rules and tasks that a directive may name (see `selectable_names`); the note names the nearest
    ones if the directive names another rule, or a word that is spelled nearly like one of them.
    """
    selectable = {name.lower() for name in names}
    advice = "remove it"
    if span.follows_text:
        before, after = HTML_COMMENT if (entry := path_format(path)) is None else entry.comment
        comment = f"{before}disambig: {span.directive}{after}"
        advice = f"it is {_MISPLACED['any' if entry is None else entry.comment_place]}, {comment}"
    elif span.rule and span.rule not in selectable:
        available = nearest_first(span.rule, selectable)
        advice = f"there is no rule or task {span.rule!r}: correct it; available: {available}"
    elif near := difflib.get_close_matches(span.word, sorted(selectable), 3, _MIN_NAME_SIMILARITY):
        rules = " or ".join(f"ignore[{name}]" for name in near)
        advice = f"{span.word!r} is read as a word: for a rule or task, write {rules}; otherwise, remove it"
    elif " " in span.word and " -> " not in span.word:
        advice = (
            f"{span.word!r} is read as the words to ignore, which commas separate: if it is text, write it "
            "in another comment; otherwise, remove the directive"
        )
    where = f"{path}, line {span.line:,}: "  # editors omit it, since they show the note at the comment
    return UserError("D960", where=where, path=path, line=span.line, said=span.directive, advice=advice)


@dataclass(frozen=True, slots=True, repr=False)
class Flag:
    """A word that is probably wrong."""

    # offsets into the text of the file
    start: int
    end: int
    # counted from 1; columns count characters
    line: int
    column: int
    # the written word and its replacement, in the same case; "" for no word
    observed: str
    replacement: str
    task: str  # task of the model that raised the flag
    probability: float  # the model's estimate of the probability that the replacement is right
    # The edit that corrects the word; it may add or remove a space with the word. The layout of a table or
    # title may need further edits (see `disambig.markup.Layout`)
    edit: tuple[int, int, str]
    # replacements of less certain tasks, in the form of records
    alternatives: tuple[dict[str, Any], ...] = ()
    # the measured share of right flags among those that are at least as certain
    trust: PrecisionEstimate | None = None
    rule: str = ""  # name of what is wrong (see `disambig.rules`); by default the task

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
        """Rules and tasks by which a directive can suppress the flag: its own, and those of alternatives."""
        names = [self.rule, self.task]
        for alternative in self.alternatives:
            if alternative["start"] <= self.end and self.start <= alternative["end"]:
                names += [alternative.get("rule", ""), alternative.get("task", "")]
        return tuple(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The flags of one text."""

    flags: tuple[Flag, ...]  # in text order
    words: int  # number of words of the text
    problems: tuple[UserError, ...] = ()  # invalid directives
    unused: tuple[HiddenSpan, ...] = ()  # directives that do not suppress any flag


def find_flags(
    path: str,
    text: str,
    plain: PlainText,
    decisions: Sequence[Decisions],
    *,
    ignore: Collection[str] = (),
    project_names: Collection[str] = (),
) -> CheckedText:
    """Return the flags of one text.

    `plain`: the text without markup, to which the decisions refer.
    `decisions`: one per task, of this text only, without overlapping flags
    (`disambig.decision.resolve_overlaps`).
    `ignore`: normalised words and corrections to ignore (see `plain_word`).
    `project_names`: names of the project, in lower case: a verb after "pandas" is not flagged for its number.
    """
    from disambig.formats import count_words

    lines = TextLines(text)
    directives = read_directives(path, text, plain.comments, lines, plain.text)
    document = DocumentWords(text, plain, project_names)
    flags = []
    used: set[HiddenSpan] = set()
    rules = {of_task.task: of_task.rules for of_task in decisions}
    for whole, row, task_decisions in _flagged_records(decisions, plain.text):
        record = _without_markup(whole, plain.text)
        start, end = record["start"], record["end"]
        observed = plain.text[start:end]
        is_written = observed == text[start:end] or (plain.file_offset(end) > end and HIDDEN not in observed)
        if record["replacement"] == record["observed"] or not is_written:
            continue  # a label, or words with markup between them
        if is_ignored(ignore, plain.text, start, end, record["replacement"]):
            continue
        trust = task_decisions.precision(row, plain.text)
        flag = _make_flag(record, trust, text, plain, lines, rules)
        # Directives come before the document's own words: one that suppresses such a flag is not unused.
        if hiding := directives.hiding(start, observed, *flag.names):
            used.update(hiding)
            continue
        correction = observed, record["replacement"].strip(), end
        if flag.probability < CERTAIN_PROBABILITY and document.is_document_word(*correction):
            continue
        if document.follows_plural_name(*correction) or document.is_listed(start, end):
            continue
        if document.is_mentioned(start, end, correction[1]):
            continue
        flags.append(flag)
    flags.sort(key=_text_order)
    unused = tuple(span for span in directives.hidden if span not in used)
    return CheckedText(tuple(flags), count_words(plain.text), directives.problems, unused)


_WORD = re.compile(rf"[^\s{HIDDEN}]+")


def _without_markup(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the record of the words that differ, if there is markup between the words of a phrase.

    The correction of "You *should* of known" replaces "of" alone. If there is markup between the words that
    differ, the record is returned as it is. `text` is the text without markup.
    """
    observed = text[record["start"] : record["end"]]
    if HIDDEN not in observed:
        return record
    old, new = list(_WORD.finditer(observed)), record["replacement"].split()
    while old and new and old[0][0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1][0] == new[-1]:
        del old[-1], new[-1]
    if not old or not new or HIDDEN in observed[old[0].start() : old[-1].end()]:
        return record
    start, end = (record["start"] + place for place in (old[0].start(), old[-1].end()))
    words = {"observed": text[start:end], "replacement": " ".join(new), "alternatives": []}
    return {**record, "start": start, "end": end, **words}


def _make_flag(
    record: dict[str, Any],
    trust: PrecisionEstimate | None,
    text: str,
    plain: PlainText,
    lines: TextLines,
    rules: Mapping[str, RuleSet | None],
) -> Flag:
    """Return the flag of a record; `rules` maps each task to its rules, which name those of alternatives."""
    observed = plain.text[record["start"] : record["end"]]
    replacement = match_apostrophes(record["replacement"], text).strip()
    file_record = _in_file(record, text, plain)
    start, end = file_record["start"], file_record["end"]
    edit = record_edit(file_record, text)
    alternatives = []
    for alternative in (*record["alternatives"], *_removal_alternative(file_record, text)):
        name, rule_set = alternative["task"], rules.get(alternative["task"])
        if rule_set:
            written = plain.text[alternative["start"] : alternative["end"]].rstrip(HIDDEN)
            name = rule_set.rule_name(Correction.plain(written, alternative["replacement"]))
        alternatives.append({**_in_file(alternative, text, plain), "rule": name})
    new_edit = edit["start"], edit["end"], edit["replacement"]
    task, probability, rule = record["task"], record["probability"], record["rule"]
    place = start, end, *lines.line_and_column(start)
    return Flag(*place, observed, replacement, task, probability, new_edit, tuple(alternatives), trust, rule)


def _in_file(record: dict[str, Any], text: str, plain: PlainText) -> dict[str, Any]:
    """Return a record or alternative with offsets into the file and the file's kind of apostrophes."""
    start, end = plain.file_offset(record["start"]), plain.file_offset(record["end"])
    new = match_apostrophes(record["replacement"], text)
    if reference := plain.reference_in(start, end):
        new = new.replace("\u2019", "'").replace("'", text[slice(*reference)])
    else:
        new = new.replace("'", plain.apostrophe_at(start))
    return {**record, "start": start, "end": end, "replacement": new}


_REMOVAL_PROBABILITY = 0.02
"""Nominal probability of removing a repeated word, if another correction of it is proposed."""


def _removal_alternative(record: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the removal of a repeated word as an alternative, if another word is proposed in its place.

    In "is is better", one word may be a slip for "it", or one too many. Both corrections are shown, however
    improbable the second one is, because only the writer knows.
    """
    candidates = {name for name, _ in record["candidates"]}
    if not record["replacement"] or "" not in candidates:
        return []
    start, end = record["start"], record["end"]
    neighbours = *text[max(0, start - 80) : start].split()[-1:], *text[end : end + 80].split(None, 1)[:1]
    if record["observed"].lower() not in map(str.lower, neighbours):
        return []
    place = {"task": record["task"], "start": start, "end": end}
    return [{**place, "replacement": "", "probability": _REMOVAL_PROBABILITY}]


def most_certain(flags: Sequence[Flag], words: int, most_per_1000: float | None) -> list[Flag]:
    """Return the most certain flags of a text of this many words, in text order.

    `most_per_1000`: maximum number of flags per 1,000 words, rounded up; None for all flags.
    """
    maximum = len(flags) if most_per_1000 is None else math.ceil(most_per_1000 * words / 1000)
    return sorted(sorted(flags, key=_most_certain_first)[:maximum], key=_text_order)


_MIN_PRECISION = 0.5
"""Minimum measured share of right flags of a kind that is corrected without review."""


def is_likely_right(flag: Flag, writing: str | None = None) -> bool:
    """Return True if most flags of this kind were right, or if that was not measured.

    `writing`: kind of writing (see `disambig.data.WORDS_PER_MISTAKE`). Precision was measured on edited text;
    for drafts and texts of learners, which have more mistakes, it is too low, and every flag counts as right.
    """
    has_many_mistakes = writing is not None and WORDS_PER_MISTAKE[writing] <= WORDS_PER_MISTAKE["draft"]
    return has_many_mistakes or flag.trust is None or flag.trust.share >= _MIN_PRECISION


def select_compatible(flags: Iterable[Flag]) -> list[Flag]:
    """Return the flags that can be corrected together, in text order.

    Flags that span several lines are not corrected. Of overlapping flags, those that
    `disambig.decision.edits_to_keep` keeps are corrected.
    """
    flags = [flag for flag in flags if "\n" not in flag.observed and "\r" not in flag.observed]
    kept = edits_to_keep(
        [flag.edit for flag in flags], [flag.probability for flag in flags], [flag.task for flag in flags]
    )
    return [flags[i] for i in kept]


def select_fitting(flags: Sequence[Flag], layout: Layout) -> list[Flag]:
    """Return those of some compatible flags whose corrections fit into the tables of a text."""
    fits = layout.fits([flag.edit for flag in flags])
    return [flag for flag, fit in zip(flags, fits, strict=True) if fit]


def apply_corrections(text: str, flags: Sequence[Flag], layout: Layout | None = None) -> str:
    """Return `text` with the corrections of flags that are compatible and fit into the layout."""
    edits = [flag.edit for flag in flags]
    further = [] if layout is None else layout.further(edits)
    return edited_text(text, sorted([*edits, *further], key=lambda edit: edit[:2]))


def _most_certain_first(flag: Flag) -> tuple[float, int, int, str]:
    return -flag.probability, flag.start, flag.end, flag.task


def _text_order(flag: Flag) -> tuple[int, int, float, str]:
    return flag.start, flag.end, -flag.probability, flag.task


def _flagged_records(
    decisions: Sequence[Decisions], text: str
) -> list[tuple[dict[str, Any], int, Decisions]]:
    """Return the record of each flagged decision, its row, and the decisions of its task."""
    import numpy as np

    return [
        (task_decisions.record(int(i), text), int(i), task_decisions)
        for task_decisions in decisions
        for i in np.flatnonzero(task_decisions.flagged)
    ]


def match_apostrophes(replacement: str, text: str) -> str:
    """Return `replacement` with curly apostrophes if the text mostly uses them."""
    if "'" in replacement and "\u2019" in text and text.count("\u2019") > text.count("'"):
        return replacement.replace("'", "\u2019")
    return replacement
