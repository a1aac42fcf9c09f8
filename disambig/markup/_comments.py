"""Find the comments of programming languages by their syntax: strings, nested comments, heredocs.

One scanner reads all languages here from a table of their marks. It is used where no lexer with exact offsets
reads the nesting of comments, raw strings and interpolated code, in linear time. The scanner never fails: in
code that is being written, a mark without its end has no meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

_DEEPEST = 24
"""Maximum depth of code within strings within code."""


@dataclass(frozen=True, slots=True)
class StringSyntax:
    r"""A kind of string."""

    opening: str  # pattern of its opening mark
    closing: str  # its closing mark; ``\1``, ``\2`` stand for groups of the opening mark
    # pattern of sequences in which the closing mark has no meaning; may refer to groups as `closing`
    escape: str = r"\\."
    lines: bool = False  # whether it extends over lines
    # opening mark of interpolated code, and the brackets that are counted up to its end
    hole: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Syntax:
    """Marks of comments and strings of a language."""

    # pattern of the opening mark of a comment up to the end of the line; empty if there is none
    line: str = "//"
    line_end: str = "$"  # pattern of the end of such a comment
    # patterns of the marks of a comment over lines; empty if there is none
    block: tuple[str, str] | None = (r"/\*", r"\*/")
    nested: bool = False  # whether such comments can be nested
    strings: tuple[StringSyntax, ...] = ()
    # patterns of what is neither a comment nor a string, such as characters and quoted names
    skipped: tuple[str, ...] = ()
    heredoc: str = ""  # pattern of the opening mark of a heredoc; its group ``word`` is the mark that ends it
    # pattern of the mark at which the code begins, in text of another language; empty if there is none
    outside: str = ""
    inside_end: str = ""  # pattern of the mark at which the code ends
    outside_comment: tuple[str, str] | None = None  # marks of a comment in the text around the code
    dropped_block: str = ""  # pattern of blocks that are instructions and not comments
    # pattern of documentation that is neither a comment nor an ordinary string; its text is all of it, or its
    # group ``words`` or ``lines``
    document: str = ""

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """One pattern of all marks, with a named group for each kind; the first kind that matches is read."""
        kinds = [
            ("document", self.document),
            ("skipped", "|".join(self.skipped)),
            ("inside_end", self.inside_end),
            ("heredoc", self.heredoc),
        ]
        kinds += [("block", self.block[0] if self.block else ""), ("line", self.line)]
        # The strings have groups of their own, which are found when the opening mark is matched again.
        kinds += [(f"string{i}", _without_groups(kind.opening)) for i, kind in enumerate(self.strings)]
        return re.compile(
            "|".join(f"(?P<{name}>{pattern})" for name, pattern in kinds if pattern)
            + r"|(?P<bracket>[(){}])",
            re.MULTILINE,
        )

    @cached_property
    def openings(self) -> tuple[re.Pattern[str], ...]:
        """Opening marks of strings."""
        return tuple(re.compile(kind.opening, re.MULTILINE) for kind in self.strings)

    @cached_property
    def line_stop(self) -> re.Pattern[str]:
        """End of a line comment."""
        return re.compile(self.line_end, re.MULTILINE)

    @cached_property
    def block_marks(self) -> re.Pattern[str]:
        """Marks within a block comment."""
        opening, closing = self.block or ("", "")
        if not self.nested:
            return re.compile(f"(?P<close>{closing})", re.MULTILINE)
        return re.compile(f"(?P<close>{closing})|{opening}", re.MULTILINE)


# Escapes and sets of characters are matched whole, since a bracket in them opens no group.
_GROUPS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<group>\((?!\?))", re.DOTALL)


def _without_groups(pattern: str) -> str:
    """Return a pattern without capturing groups, for use in a larger one."""
    return _GROUPS.sub(lambda match: "(?:" if match["group"] else match[0], pattern)


# A character in single quotes. The length limit allows for escapes such as '\u{1F600}', and leaves alone what
# is no character: lifetimes of Rust, labels and apostrophes.
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_QUOTED, _QUOTED_LINES = StringSyntax('"', '"'), StringSyntax('"', '"', lines=True)
_SINGLE, _SINGLE_LINES = StringSyntax("'", "'"), StringSyntax("'", "'", lines=True)
_DOUBLED_QUOTED, _DOUBLED_SINGLE = StringSyntax('"', '"', escape='""'), StringSyntax("'", "'", escape="''")
_TRIPLE = StringSyntax('"""', '"""', lines=True)
_RAW_TRIPLE = StringSyntax('"""', '"""', escape="", lines=True)
_TRIPLE_OF_EITHER = "('{3}|\"{3})"
_DOLLAR, _HASH = (r"\$\{", "{", "}"), (r"#\{", "{", "}")  # interpolated code: "${x}", "#{x}"
_PREPROCESSOR = r"(?:define|undef|ifn?def|if|elif|else|endif|error|include|pragma)\b"
_ADDRESS = r"url\([^()\"'\n]*\)"  # an address without quotes in CSS, in which "//" does not begin a comment
# What begins a literal of Ruby such as %w[a b]; after a name or a closing bracket, "%" is an operator.
_PERCENT = r"(?<![\w)\]}.] )(?<![\w)\]}])%[qQwWiIrsx]?"
# Where Ruby expects an operand: "/" begins a regular expression there and is a division elsewhere.
_OPERAND = (
    r"(?:(?<=[(,=~!|&{\[;:?<>+\-*%^\n])|(?<=\bif)|(?<=\bunless)|(?<=\bwhen)|(?<=\breturn)|(?<=\band)"
    r"|(?<=\bor))"
)

_JULIA_STRING = r'(?:(?:raw|doc)?"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""|"(?:[^"\\\n]|\\.)+")'
_JULIA_DEFINITION = (
    r"[ \t]*\n(?:[ \t]*\n)?[ \t]*(?:@\w[\w.]*[ \t]+)*"
    r"(?:(?:function|macro|(?:mutable[ \t]+)?struct|abstract|primitive|(?:bare)?module|const|global)\b"
    r"|(?!(?:end|else|elseif|catch|finally|for|while|if|return|let|begin)\b)[A-Za-z_][\w.!]*"
    r"(?:[ \t]*(?:\n|\Z)|[ \t]*=(?!=)|(?:\{[^{}\n]*\})?\())"
)
"""The line after a docstring of Julia: a definition, a name or a call."""

_DESCRIPTION = (
    r"^[ \t]*(?:[\w.]+\.)?(?:description|longDescription|error_message|summary)[ \t]*=[ \t]*"
    r"(?:(?:lib\.)?mdDoc[ \t]+)?"
)
"""What stands before the value of a field that is prose."""
# The limits of these patterns keep a string whose end is missing from being searched to the end of the text.
_ONE_STRING = r'"(?P<words>(?:[^"\\\n]|\\.){1,2000})"'
_HEREDOC = r"<<-?(?P<tag>[A-Za-z_]\w*)[ \t]*\n(?P<lines>(?:(?![ \t]*(?P=tag)\b)[^\n]*\n)+)[ \t]*(?P=tag)\b"
# COMMENT ON TABLE t IS 'text' of PostgreSQL, and COMMENT 'text' of MySQL in the definition of a column
_SQL_COMMENT = (
    r"\b(?i:COMMENT)(?:[ \t]+(?i:ON)\b[^;'\"]{1,200}(?i:\bIS))?[ \t\n]{0,9}=?[ \t]{0,9}"
    r"'(?P<words>(?:[^']|''){1,2000})'"
)
# Lists are matched to a depth of two, since a pattern cannot count brackets; deeper ones are rare there.
_LISP_STRING = r'"(?:[^"\\]|\\[\s\S]){0,2000}"'
_LISP_LIST = r"\((?:[^()]|\([^()]*\)){0,2000}\)"
_LISP_NAME = r"[ \t]+[^\s()\"]+\s+"
_LISP_DOCUMENTATION = (
    r"\((?:"
    # a function: name, arguments and documentation
    rf"(?:cl-)?def(?:un|macro|subst|generic|method|advice|type|struct|ine-\S+)\*?{_LISP_NAME}{_LISP_LIST}\s*\n\s*"
    # a variable: name, value and documentation
    rf"|def(?:var|var-local|const|custom|face|parameter|group){_LISP_NAME}"
    rf"(?:{_LISP_STRING}|['`]?{_LISP_LIST}|[^\s()\"]+)\s+"
    # Clojure: the documentation is before the arguments; a string alone is the value
    rf"|(?:defn-?|defmacro|defmulti|defonce|def){_LISP_NAME}(?={_LISP_STRING}\s+[^\s)])"
    rf"|(?:ns|defprotocol){_LISP_NAME}"
    r")"
    r'"(?P<words>(?:[^"\\]|\\[\s\S]){1,20000})"'
)
"""A definition in Emacs Lisp, Common Lisp or Clojure up to the end of its documentation."""

SYNTAXES = {
    "Java": Syntax(strings=(_TRIPLE, _QUOTED), skipped=(_CHARACTER,)),
    "C#": Syntax(
        strings=(
            StringSyntax(r'[$]*("{3,})', r"\1", escape="", lines=True),
            StringSyntax(r'(?:\$@|@\$)"', '"', escape=r'""|\{\{', lines=True, hole=(r"\{", "{", "}")),
            StringSyntax('@"', '"', escape='""', lines=True),
            StringSyntax(r'\$"', '"', escape=r"\\.|\{\{", hole=(r"\{", "{", "}")),
            _QUOTED,
        ),
        skipped=(
            _CHARACTER,
            # the words after these are not in quotes, and may contain "//"
            r"^[ \t]*#[ \t]*(?:region|endregion|error|warning|pragma|line|nullable|r|load)\b[^\n]*",
        ),
    ),
    "C++": Syntax(
        line_end=r"(?<!\\)$",  # a backslash continues a comment in the next line
        strings=(StringSyntax(r'R"([^ ()\\\t\v\f\n"]{0,16})\(', r')\1"', escape="", lines=True), _QUOTED),
        skipped=(
            r"(?<=[0-9A-Fa-f])'(?=[0-9A-Fa-f])",  # separates digits: 1'000
            _CHARACTER,
            # code that is switched off; whatever is in it is no comment for a reader
            r"^[ \t]*#[ \t]*if[ \t]+0[ \t]*$(?:(?!^[ \t]*#[ \t]*(?:if|endif|else|elif))[^\n]*\n)*",
        ),
    ),
    "Kotlin": Syntax(
        nested=True,
        strings=(
            StringSyntax('"""', '"""', escape="", lines=True, hole=_DOLLAR),
            StringSyntax('"', '"', hole=_DOLLAR),
        ),
        skipped=(_CHARACTER, r"`[^`\n]*`"),
    ),
    "Swift": Syntax(
        nested=True,
        strings=(
            StringSyntax(r'(#{1,8})"""', r'"""\1', escape="", lines=True),
            StringSyntax(r'(#{1,8})"', r'"\1', escape=""),
            StringSyntax('"""', '"""', lines=True, escape=r"\\[^(]", hole=(r"\\\(", "(", ")")),
            StringSyntax('"', '"', escape=r"\\[^(]", hole=(r"\\\(", "(", ")")),
        ),
        skipped=(r"#/[^\n]*?/#", r"`[^`\n]*`"),  # regular expressions, and names in backticks
    ),
    "Scala": Syntax(
        nested=True,
        strings=(
            # with a prefix, s"..." or f"...", a string may contain code
            StringSyntax(r'(?<=\w)"""', '"""', escape="", lines=True, hole=_DOLLAR),
            _RAW_TRIPLE,
            StringSyntax(r'(?<=\w)"', '"', hole=_DOLLAR),
            _QUOTED,
        ),
        skipped=(_CHARACTER, r"`[^`\n]*`"),
    ),
    "Ruby": Syntax(
        line="#",
        block=("^=begin\\b", "^=end\\b"),
        strings=(
            StringSyntax('"', '"', lines=True, hole=_HASH),
            _SINGLE_LINES,
            StringSyntax("`", "`", lines=True, hole=_HASH),
            *(
                StringSyntax(_PERCENT + re.escape(opening), closing, lines=True)
                for opening, closing in ("()", "[]", "{}", "<>")
            ),
            StringSyntax(r"(?<![\w)\]} ])%[qQwWiIrsx]?([|!/^~])", r"\1", lines=True),
            StringSyntax(_OPERAND + r"[ \t]?/(?=[^\s/][^\n]*?/)", "/"),
        ),
        # a character (?"), a global variable ($"), and data after the end of the program
        skipped=(r"(?<![\w)\]])\?(?:\\.|[^\s\w])", r"(?<=\$)[\"'`#]", r"^__END__\s*$(?:[^\n]*\n?)*"),
        heredoc=r"<<[~-]?(?P<quote>[\"'`]?)(?P<word>[A-Z_]\w*)(?P=quote)|<<[~-](?P<lower>[a-z_]\w*)",
    ),
    "PHP": Syntax(
        line=r"//|#(?!\[)",  # "#[" begins an attribute
        line_end=r"$|(?=\?>)",
        strings=(
            StringSyntax('"', '"', lines=True, hole=(r"\{(?=\$)", "{", "}")),
            _SINGLE_LINES,
            StringSyntax("`", "`", lines=True),
        ),
        heredoc=r"<<<[ \t]*(?P<quote>[\"']?)(?P<word>[A-Za-z_]\w*)(?P=quote)",
        outside=r"<\?(?:php\b|=)?",
        inside_end=r"\?>",
    ),
    # Long brackets with equal signs, "[==[" and "]==]", close only each other.
    "Lua": Syntax(
        line="--|\\A#!",
        block=(r"--\[(?P<level>=*)\[", r"\](?P=level)\]"),
        strings=(StringSyntax(r"\[(=*)\[", r"]\1]", escape="", lines=True), _QUOTED, _SINGLE),
    ),
    "R": Syntax(
        line="#'?",
        block=None,
        strings=(
            StringSyntax(r"(?<!\w)[rR]([\"'])(-{0,8})\(", r")\2\1", escape="", lines=True),
            StringSyntax(r"(?<!\w)[rR]([\"'])(-{0,8})\[", r"]\2\1", escape="", lines=True),
            StringSyntax(r"(?<!\w)[rR]([\"'])(-{0,8})\{", r"}\2\1", escape="", lines=True),
            _QUOTED_LINES,
            _SINGLE_LINES,
        ),
        skipped=(r"`[^`\n]*`",),
    ),
    "SQL": Syntax(
        line="--",
        nested=True,
        strings=(
            StringSyntax("'", "'", escape="''", lines=True),
            StringSyntax('"', '"', escape='""', lines=True),
        ),
        skipped=(r"`[^`\n]*`",),
        document=_SQL_COMMENT,
    ),
    "Haskell": Syntax(
        # An operator may begin or end with "--". Marks of Haddock ("-- |") belong to the mark of the comment.
        line=r"(?<![!#$%&*+./<=>?@\\^|~:-])--+(?![!#$%&*+./<=>?@\\^|~:-])(?:[ \t]*[|^](?=[ \t]|$))?",
        block=(r"\{-+(?:[ \t]*\|)?", r"-\}"),
        nested=True,
        strings=(StringSyntax('"', '"', escape=r"\\\s+\\|\\.", lines=True),),
        skipped=(r"(?<=\w)'+", _CHARACTER),  # a prime belongs to the name before it: x'
        dropped_block=r"\{-#",
    ),
    "TOML": Syntax(
        line="#",
        block=None,
        strings=(
            _TRIPLE,
            StringSyntax("'''", "'''", escape="", lines=True),
            _QUOTED,
            StringSyntax("'", "'", escape=""),
        ),
        document=_DESCRIPTION + _ONE_STRING,
    ),
    "PowerShell": Syntax(
        line=r"(?<![^\s;,=(){}|&])#",  # "#" may be a part of a word
        block=("<#", "#>"),
        strings=(
            StringSyntax(r"@([\"'])[ \t]*$", "\n\\1@", escape="", lines=True),
            StringSyntax('"', '"', escape=r'`.|""', lines=True, hole=(r"\$\(", "(", ")")),
            StringSyntax("'", "'", escape="''", lines=True),
        ),
        skipped=(r"`.", r"^[ \t]*#(?:[Rr]equires|[Rr]egion|[Ee]ndregion)\b[^\n]*"),
    ),
    # Comments of properties and Dockerfiles are whole lines: other lines are skipped.
    "properties": Syntax(line="[#!]", block=None, skipped=(r"(?=[^\s#!])(?:[^\\\n]|\\[\s\S]?)+",)),
    "Apple strings": Syntax(strings=(_QUOTED_LINES,)),
    "Dockerfile": Syntax(
        line="#",
        block=None,
        skipped=(r"^[ \t]*#[ \t]*(?:syntax|escape|check)[ \t]*=[^\n]*", r"(?=[^\s#<])(?:(?!<<)[^\n])+"),
        heredoc=r"<<-?(?P<quote>[\"']?)(?P<word>[A-Za-z_]\w*)(?P=quote)",
    ),
    "Makefile": Syntax(
        line=r"(?<![^\s;])#",
        block=None,
        strings=(_QUOTED, StringSyntax("'", "'", escape="")),
        skipped=(r"\\.",),
    ),
    "Elixir": Syntax(
        line="#",
        block=(r'@\w*doc[ \t]+(?:~[sS])?"""', '"""'),
        strings=(
            StringSyntax(r"~[a-zA-Z](\"\"\"|\"|'|/|\|)", r"\1", lines=True),
            StringSyntax('"""', '"""', lines=True, hole=_HASH),
            StringSyntax('"', '"', lines=True, hole=_HASH),
            _SINGLE_LINES,
        ),
        skipped=(r"(?<!\w)\?\\?[^\w\s]",),
        document=r"@\w*doc[ \t]+" + _ONE_STRING,
    ),
    "Perl": Syntax(
        line=r"(?<![^\s;{}(),])#",
        block=None,
        strings=(_QUOTED_LINES, StringSyntax(r"(?<![\w$&])'", "'", lines=True)),
        # data after the program, up to documentation in it
        skipped=(r"^__(?:END|DATA)__$(?:\n(?!=[a-zA-Z])[^\n]*)*",),
        # POD, the documentation of Perl: from a command at the beginning of a line up to "=cut"
        document=r"^=[a-zA-Z]\w*\b(?:(?!=cut\b)(?:[^\n]+\n?|\n))*(?:=cut\b[^\n]*)?",
        heredoc=r"<<~?(?P<quote>[\"']?)(?P<word>[A-Z_]\w*)(?P=quote)",
    ),
    "Dart": Syntax(
        nested=True,
        strings=(
            StringSyntax(f"r{_TRIPLE_OF_EITHER}", r"\1", escape="", lines=True),
            StringSyntax("r([\"'])", r"\1", escape=""),
            StringSyntax(_TRIPLE_OF_EITHER, r"\1", lines=True, hole=_DOLLAR),
            StringSyntax("([\"'])", r"\1", hole=_DOLLAR),
        ),
    ),
    "CSS": Syntax(line="", strings=(_QUOTED, _SINGLE), skipped=(_ADDRESS,)),
    "SCSS": Syntax(strings=(_QUOTED, _SINGLE), skipped=(_ADDRESS,)),
    "Groovy": Syntax(
        strings=(
            StringSyntax(_TRIPLE_OF_EITHER, r"\1", lines=True),
            StringSyntax("([\"'])", r"\1"),
            StringSyntax(r"(?<=[=(,~])[ \t]?/(?=[^\s/*][^\n]*?/)", "/"),
        )
    ),
    "Protocol Buffers": Syntax(strings=(_QUOTED, _SINGLE)),
    "Terraform": Syntax(
        line="#|//",
        strings=(StringSyntax('"', '"', hole=(r"[$%]\{", "{", "}")),),
        heredoc=r"<<-?(?P<word>[A-Za-z_]\w*)",
        document=rf"{_DESCRIPTION}(?:{_ONE_STRING}|{_HEREDOC})",
    ),
    "Lisp": Syntax(
        line=";+",
        block=None,
        strings=(_QUOTED_LINES,),
        skipped=(r"\\.|\?\\?[^\w\s]",),
        document=_LISP_DOCUMENTATION,
    ),
    "Erlang": Syntax(
        line="%+",
        block=None,
        strings=(_RAW_TRIPLE, _QUOTED, _SINGLE),
        skipped=(r"\$\\?.",),
        document=(
            r'^-(?:module)?doc[ \t]+(?:~?"""[ \t]*\n(?P<lines>(?:(?![ \t]*""")[^\n]*\n)+)[ \t]*"""'
            rf"|{_ONE_STRING})"
        ),
    ),
    "TeX": Syntax(line="%+", block=None, skipped=(r"\\.",)),
    "Zig": Syntax(block=None, strings=(_QUOTED,), skipped=(r"\\\\[^\n]*", _CHARACTER)),
    "OCaml": Syntax(
        line="",
        block=(r"\(\*+(?!\))", r"\*+\)"),
        nested=True,
        strings=(StringSyntax(r"\{([a-z_]*)\|", r"|\1}", escape="", lines=True), _QUOTED_LINES),
        skipped=(_CHARACTER,),
    ),
    "F#": Syntax(
        block=(r"\(\*+(?!\))", r"\*+\)"),
        nested=True,
        strings=(_RAW_TRIPLE, StringSyntax('@"', '"', escape='""', lines=True), _QUOTED_LINES),
        skipped=(_CHARACTER,),
    ),
    "CMake": Syntax(
        line="#",
        block=(r"#\[(?P<level>=*)\[", r"\](?P=level)\]"),
        strings=(StringSyntax(r"\[(=*)\[", r"]\1]", escape="", lines=True), _QUOTED_LINES),
        skipped=(r"\\.",),
    ),
    # Octave's comments begin with "#" as well; "'" after a name is the sign of a transposed matrix
    "MATLAB": Syntax(
        line="[%#]+|(?<![.])[.]{3}(?![.])",  # what follows "...", which continues a line, is a comment
        block=(r"^[ \t]*[%#]\{[ \t]*$", r"^[ \t]*[%#]\}[ \t]*$"),
        strings=(
            StringSyntax('"', '"', escape=r'\\.|""'),
            StringSyntax(r"(?<![\w)\]}.'])'", "'", escape="''"),
        ),
        skipped=(r"^[ \t]*%!(?:test|assert|error|demo|xtest|shared|function)?[^\n]*",),
    ),
    "Julia": Syntax(
        line="#",
        block=("#=", "=#"),
        nested=True,
        strings=(
            StringSyntax('"""', '"""', lines=True, hole=(r"\$\(", "(", ")")),
            StringSyntax('"', '"', lines=True, hole=(r"\$\(", "(", ")")),
        ),
        skipped=(r"(?<![\w)\]])'(?:[^'\\\n]|\\[^\n]{1,10}?)'",),
        document=(rf"^[ \t]*@doc[ \t]+{_JULIA_STRING}|^[ \t]*{_JULIA_STRING}(?={_JULIA_DEFINITION})"),
    ),
    "Vue": Syntax(
        strings=(StringSyntax("`", "`", lines=True, hole=_DOLLAR), _QUOTED, _SINGLE),
        skipped=(r"(?<=[(,=:&|!?{};\[\n])[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/",),
        outside=r"(?i:<(?:script|style)\b[^<>]*>)",
        inside_end=r"(?i:</(?:script|style)\s*>)",
        outside_comment=("<!--", "-->"),
    ),
    "C-like": Syntax(strings=(_QUOTED,), skipped=(_CHARACTER,)),
    "Verilog": Syntax(block=(r"/\*|\(\*(?!\))", r"\*[/)]"), strings=(_QUOTED,), skipped=(r"`\w+",)),
    "D": Syntax(
        block=(r"/[*+]", r"[*+]/"),
        strings=(_QUOTED, StringSyntax("`", "`", escape="", lines=True), StringSyntax('r"', '"', escape="")),
        skipped=(_CHARACTER,),
    ),
    "Nix": Syntax(
        line="#",
        strings=(
            StringSyntax("''", "''", escape=r"''['$\\]", lines=True, hole=_DOLLAR),
            StringSyntax('"', '"', lines=True, hole=_DOLLAR),
        ),
        document=_DESCRIPTION
        + rf"(?:{_ONE_STRING}|''[ \t]*\n(?P<lines>(?:[^']|'(?!')){{1,20000}})''(?!['$\\]))",
    ),
    "GraphQL": Syntax(
        line="#",
        block=None,
        strings=(_QUOTED,),
        document=rf'"""(?P<lines>(?:[^"]|"(?!"")){{1,20000}})"""|^[ \t]*{_ONE_STRING}[ \t]*$',
    ),
    # Comments of batch files, of Vim script and of Tcl are whole lines: other lines are skipped.
    "Batch": Syntax(line=r"@?(?i:rem)\b|::", block=None, skipped=(r"(?=[^\s])(?!@?(?i:rem)\b|::)[^\n]+",)),
    "Vim": Syntax(line='"', block=None, skipped=(r'(?=[^\s"])[^\n]+',)),
    "Tcl": Syntax(line="#", block=None, skipped=(r"(?=[^\s#])[^\n]+",)),
    "Fortran": Syntax(
        line="!",
        block=None,
        strings=(_DOUBLED_QUOTED, _DOUBLED_SINGLE),
        # directives of OpenMP and of compilers
        skipped=(r"^[ \t]*![$](?:\w+)?[^\n]*|^[ \t]*!(?:DIR|DEC|GCC)[$][^\n]*",),
    ),
    "Fortran in columns": Syntax(
        # A "c" in the first column begins a comment; one before a letter begins a statement, such as "call".
        line=r"^[cC](?=[ \t*!=>-]|$)|^\*|!",
        block=None,
        strings=(_DOUBLED_QUOTED, _DOUBLED_SINGLE),
        skipped=(r"^[cC*!](?:[$]|(?i:f2py|dir[$]|dec[$]|gcc[$]))[^\n]*",),
    ),
    # Comments of these files are in the syntax of C or PHP or, as whole lines, in that of Make.
    "include file": Syntax(
        line=r"(?<!:)//|^[ \t]*#(?=[ \t#]|$)",
        strings=(_QUOTED,),
        skipped=(_CHARACTER, rf"^[ \t]*#[ \t]*{_PREPROCESSOR}"),
    ),
    "M4": Syntax(
        line=r"(?<!\w)dnl(?!\w)|(?<![^\s;])#(?![^\s#!])",
        block=None,
        skipped=(rf"#[ \t]*{_PREPROCESSOR}[^\n]*",),
    ),
    "Basic": Syntax(line=r"'+|^[ \t]*(?i:rem)\b", block=None, strings=(_DOUBLED_QUOTED,)),
    "Ada": Syntax(line="--", block=None, strings=(_DOUBLED_QUOTED,), skipped=(r"'.'",)),
    "Nim": Syntax(
        line="##?(?!\\[)",
        block=(r"##?\[", r"\]##?"),
        nested=True,
        strings=(_RAW_TRIPLE, _QUOTED),
        skipped=(_CHARACTER,),
    ),
    "Pascal": Syntax(
        block=(r"\{(?!\$)|\(\*(?!\$)", r"\}|\*\)"),
        strings=(_DOUBLED_SINGLE,),
        skipped=(r"\{\$[^}\n]{0,500}\}",),
    ),
    "Assembly": Syntax(line=";", block=None, strings=(_QUOTED, _SINGLE)),
    # Comments of these files are whole lines: other lines are skipped.
    # Some of them are headers of C.
    "INI": Syntax(line="[#;]", block=None, skipped=(r"(?=[^\s#;])[^\n]+", rf"#{_PREPROCESSOR}[^\n]*")),
    "GDScript": Syntax(line="#", block=None, strings=(_TRIPLE, _QUOTED, _SINGLE)),
    "CoffeeScript": Syntax(
        line="#(?!##)",  # "###" begins a comment over lines
        block=("###(?!#)", "###"),
        strings=(
            StringSyntax(_TRIPLE_OF_EITHER, r"\1", lines=True),
            StringSyntax('"', '"', lines=True, hole=_HASH),
            _SINGLE_LINES,
        ),
    ),
    "AWK": Syntax(
        line="#",
        block=None,
        strings=(_QUOTED, StringSyntax(r"(?:(?<=[~(,!{;\n])|^)[ \t]?/(?=[^\s/][^\n]*?/)", "/")),
    ),
}
"""Syntax of the languages that are read by this scanner, by the name of the format."""


def scan_comments(text: str, language: str) -> list[tuple[int, int, bool]]:
    """Return the comments of a text in one of `SYNTAXES`, whose line ends are line feeds, in text order.

    Each is its start, its end, and whether it ends with its line.
    """
    scanner = _Scanner(text, SYNTAXES[language])
    scanner.scan()
    return sorted(scanner.comments)


@dataclass(slots=True)
class _Scanner:
    """Reader of one text from left to right.

    Marks whose end is missing are remembered and not searched again, so that the time is linear.
    """

    text: str
    syntax: Syntax
    comments: list[tuple[int, int, bool]] = field(default_factory=list)
    unclosed: set[str] = field(default_factory=set)
    patterns: dict[tuple[int, str], re.Pattern[str]] = field(default_factory=dict)

    def scan(self) -> None:
        """Find all comments."""
        at, end = 0, len(self.text)
        if not self.syntax.outside:
            self._code(0)
            return
        opening, closing = self.syntax.outside_comment or ("", "")
        marks = re.compile(f"(?P<comment>{re.escape(opening) or '(?!)'})|{self.syntax.outside}")
        while at < end and (match := marks.search(self.text, at)):
            if not match["comment"]:
                at = self._code(match.end())
                continue
            place = self.text.find(closing, match.end())
            at = place + len(closing) if place >= 0 else end
            self.comments.append((match.start(), at, False))

    def _code(self, at: int, brackets: tuple[str, str] | None = None, depth: int = 0) -> int:
        """Read code up to its end, or up to the closing one of `brackets`; return the position after it.

        A heredoc begins after the line with its mark. So if a line has one, the search for marks ends with
        that line, and goes on after the heredocs.
        """
        text, marks = self.text, self.syntax.marks
        heredocs: list[str] = []
        level, line_end = 1, len(text)
        while True:
            match = marks.search(text, at, line_end)
            if match is None:
                if not heredocs:
                    return len(text)
                at = self._after_heredocs(line_end, heredocs)
                heredocs, line_end = [], len(text)
                continue
            # `lastgroup` is the name of the last group that closed: where a pattern in the table has a named
            # group, as for the word of a heredoc, it is that name and not the kind
            kind, start, at = match.lastgroup or "", match.start(), match.end()
            if kind == "bracket":
                if brackets is not None:
                    level += (match[0] == brackets[0]) - (match[0] == brackets[1])
                    if level == 0:
                        return at
            elif kind == "inside_end":
                return at
            elif kind in ("heredoc", "word", "lower", "quote"):
                heredocs.append(match["word"] or match["lower"])
                line_end = _line_end(text, at)
            elif kind == "document":
                groups = [match.span(name) for name in ("words", "lines") if name in marks.groupindex]
                words = max(groups, default=(-1, -1))
                self.comments.append((*(words if words[0] >= 0 else (start, at)), False))
            elif kind == "line":
                at = self._line(start, at)
            elif kind in ("block", "level"):
                at = self._block(start, at)
            elif kind.startswith("string"):
                at = self._string(start, int(kind.removeprefix("string")), depth)
            line_end = max(line_end, at)

    def _after_heredocs(self, at: int, words: list[str]) -> int:
        """Return the end of the heredocs that begin after a line end."""
        for word in words:
            pattern = f"^[ \t]*{re.escape(word)}\\b"
            if pattern in self.unclosed:
                continue
            if match := re.compile(pattern, re.MULTILINE).search(self.text, at):
                at = match.end()
            else:
                self.unclosed.add(pattern)
        return at

    def _line(self, start: int, after: int) -> int:
        match = self.syntax.line_stop.search(self.text, after)
        stop = match.start() if match else len(self.text)
        self.comments.append((start, stop, True))
        return stop

    def _block(self, start: int, after: int) -> int:
        """Read a block comment, and return its end; `after` if it is not closed."""
        opening = self.text[start:after]
        if opening in self.unclosed:
            return after
        if self.syntax.block and "(?P=" in self.syntax.block[1]:  # both marks have the same number of signs
            marks = re.compile(f"(?P<close>{re.escape(opening.lstrip('-#').replace('[', ']'))})")
        else:
            marks = self.syntax.block_marks
        at, level = after, 1
        while match := marks.search(self.text, at):
            at = match.end()
            level += -1 if match["close"] else 1
            if level == 0:
                dropped = self.syntax.dropped_block
                if not (dropped and re.match(dropped, self.text[start : start + 8])):
                    self.comments.append((start, at, False))
                return at
        self.unclosed.add(opening)
        return after

    def _string(self, start: int, number: int, depth: int) -> int:
        """Skip a string, and return its end; interpolated expressions in it are read as code."""
        kind = self.syntax.strings[number]
        opening = self.syntax.openings[number].match(self.text, start)
        if opening is None:
            return start + 1
        closing = re.sub(r"\\(\d)", lambda group: opening[int(group[1])] or "", kind.closing)
        if kind.lines and closing in self.unclosed:
            return opening.end()
        pattern = self._ends(number, kind, closing)
        at = opening.end()
        while match := pattern.search(self.text, at):
            at = match.end()
            if match.lastgroup == "close":
                return at
            if match.lastgroup == "line":
                return match.start()
            if match.lastgroup == "hole" and kind.hole is not None and depth < _DEEPEST:
                at = self._code(at, kind.hole[1:], depth + 1)
        if kind.lines and at < len(self.text):
            self.unclosed.add(closing)
            return opening.end()
        return len(self.text)  # code in a string that goes on to the end is not read again

    def _ends(self, number: int, kind: StringSyntax, closing: str) -> re.Pattern[str]:
        """Return the pattern of what has a meaning within a string."""
        key = number, closing
        if key not in self.patterns:
            parts = [f"(?P<escape>{kind.escape})"] if kind.escape else []
            parts += [f"(?P<hole>{kind.hole[0]})"] if kind.hole else []
            parts += [f"(?P<close>{re.escape(closing)})"] + ([] if kind.lines else ["(?P<line>\n)"])
            self.patterns[key] = re.compile("|".join(parts), re.DOTALL)
        return self.patterns[key]


def _line_end(text: str, at: int) -> int:
    place = text.find("\n", at)
    return place if place >= 0 else len(text)
