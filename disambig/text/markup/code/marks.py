"""Marks in comments that are no words: what tools read, tags of documentation, licences, calls, names."""

from __future__ import annotations

import re

LICENCE = re.compile(
    r"SPDX-|copyright\b.{0,40}\d{4}|\(c\)\s*\d{4}|\u00a9|licen[sc]ed under|permission is hereby granted"
    r"|redistribution and use|all rights reserved|terms of the .{0,60}licen[sc]e",
    re.IGNORECASE | re.DOTALL,
)
"""A block that has it is a licence, or the head of a file that names one."""

_TOOLS = (
    "noqa type: mypy: pyright: pylint: flake8: ruff: fmt: isort: yapf: black: pragma nosec nopycln cython: "
    "distutils: coding: coding= -*- vi: vim: ex: %% +build go: nolint eslint @ts- @jsx @flow prettier-ignore "
    "tslint: jshint jslint istanbul c8 v8 webpack sourceMappingURL region endregion #region #endregion "
    "biome-ignore deno-lint-ignore deno-fmt-ignore deno-coverage-ignore stylelint shellcheck clang-format "
    "NOLINT rustfmt:: cspell: spellchecker: codespell: typos: disambig: LCOV_ fallthrough FALLTHROUGH lint:"
).split()
PRAGMA = re.compile(
    rf"(?:^|[#/])[ \t@#]*(?:{'|'.join(map(re.escape, _TOOLS))})(?:(?<![^\W_])|(?!\w))[^\n]*"
    r"|^[ \t]*(?:eslint|webpack|@ts-)[^\n]*",
    re.MULTILINE,
)
"""What tools read: up to the end of the line."""

_NAMED = (
    "param arg argument prop property throw throws exception raise raises tparam template typedef retval "
    "callback event member memberof name namespace module class constructor extends see type since author "
    "version default enum file ingroup defgroup addtogroup sa ref p c a e cite copydoc relates"
)
TAG = re.compile(
    rf"""(?:^|(?<=\s))[@\\](?:
        (?:{_NAMED.replace(" ", "|")})\b (?:\[[\w, ]*\])?
            [ \t]*(?:\{{[^{{}}\n]*(?:\{{[^{{}}\n]*\}}[^{{}}\n]*)*\}})?
            [ \t]*(?:\[[^\]\n]*\]|[\w$.*,<>:\#\[\]-]+)? (?:[ \t]+-(?=\s))?
      | [A-Za-z]\w* (?:[ \t]*\{{[^{{}}\n]*\}})?
    )""",
    re.VERBOSE | re.MULTILINE,
)
"""``@param {type} name -``, ``\\brief`` and their like."""
FIELD = re.compile(r"^[ \t]*:[A-Za-z][\w \t,.*|\[\]-]{0,80}:(?=\s|$)", re.MULTILINE)
"""``:param int x:``"""
NOTE = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|NOTE|BUG|NB|SAFETY|WARNING|WARN|PERF)\b(?:\([^()\n]*\)|\[[^\[\]\n]*\])?:?"
)
LINK = re.compile(r"\{@\w+[^{}\n]*\}|:[a-z][\w:+-]*:(?=`)")
"""``{@link x}``, and the role before ```x```."""

CALL = re.compile(r"(?<![\w$.:\]])[\w$.:\]]*[\w$\]]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
NAME = re.compile(
    r"[a-z\d][A-Z]|[$\\=|^~%&*+{}<>@_/\ufffc]|\w[\[:.]\w|\w::|\A[(\"'\[]*(?:-{1,2}|\#)\w|\d[A-Za-z]|[A-Za-z]\d"
)
"""In a chunk without blanks: it is a name, a number with a unit, a formula, an option, but no word."""
CHUNK = re.compile(r"\S+")
LONGEST = 80
"""Characters of a chunk that may be a word."""
_KEYWORDS = (
    "and as async await break case class const continue def default do elif else enum except finally for "
    "from func function if import in int is lambda let match mod new not null of or return self set static "
    "struct super switch then this throw to try type use var void while with yield"
)
KEYWORD = re.compile(
    rf"\b(?:{_KEYWORDS.replace(' ', '|')})"
    r"(?=(?:\s+|-)(?:loop|statement|operator|keyword|block|clause|expression|branch|directive)(?:e?s)?\b)"
)
"""A word that the next one calls a part of a language: "the in operator"."""
TYPE = re.compile(r"\b(?:long|short|unsigned|signed)(?:\s+(?:long|short|int|char|double))+\b")
"""Types of C that are several words."""
LETTER = re.compile(r"(?<![\w'\u2019-])[a-zB-HJ-Z](?![\w'\u2019])|(?<=[a-z,] )A(?![\w'\u2019])")
"""A letter that stands alone, "a" included."""
CAPITALS = re.compile(r"(?<![\w'\u2019-])[A-Z][A-Z\d]+(?![\w'\u2019-])")
"""Constants, and words of formats."""
ANEW = re.compile(r"[\w)\]](\n)[ \t]*[A-Z][a-z]")
"""The line end between two remarks, the first of which has no full stop."""
FORMULA = re.compile(r"(?<!\S)\w+(?: [-+*/<>=|&^%] \w+)+")
_SMALL = (
    "a an the this that these those its it's it they their there they're he she we you your you're i if in "
    "on at of to too for from by with when where were was is are as and or but not no than then who whose "
    "what which how why all any each every both some many much more most other another only also may can "
    "must should would could will has have had do does did"
)
FIRST = re.compile(
    r"(?:\A|\u2029|\n[ \t]*\n|(?<=[.!?:;])\s)[ \t\n\ufffc>*-]{0,200}"
    rf"(?P<word>(?!(?:{_SMALL.replace(' ', '|')})(?![\w']))[A-Za-z]+(?:'[a-z]+)?)(?![\w'])",
    re.IGNORECASE,
)
"""The first word of a sentence, if it is no small one: "Return", "Returns", whichever a project writes."""
