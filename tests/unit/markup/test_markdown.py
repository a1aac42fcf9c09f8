"""Markdown and its dialects as plain text, read at once or in the parts that changed."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from offsets import read_with_offsets
from processor_time import reads_in_linear_time

from disambig.markup import (
    BREAK,
    OPAQUE,
    IncrementalMarkdown,
    PlainText,
    markdown as pieces,
    plain_text,
    read_markup,
)
from disambig.text import HIDDEN, SPOKEN_CONSONANT, SPOKEN_VOWEL


def legible_markdown(text):
    """Return the plain text, legible: ``¶`` ends a sentence, ``#`` is hidden."""
    return (
        plain_text("x.md", text)
        .replace("\u2029", "¶")
        .translate(dict.fromkeys([0xFFFC, 0xE000, 0xE001], "#"))
        .replace(HIDDEN, " ")
    )


def squeeze(text):
    """Return the same with runs of one mark and of blanks drawn together."""
    words = legible_markdown(text)
    for mark in "¶# ":
        while mark * 2 in words:
            words = words.replace(mark * 2, mark)
    return words.strip(" ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *b* c", "a  b  c"),
        ("a **b** _c_ ***d***.", "a   b    c     d   ."),
        ("**a _b_ c**", "  a  b  c  "),
        ("5 * 3 * 2 and a_b_c", "5 * 3 * 2 and a_b_c"),
        ("*a", "*a"),
        ("a\\*b", "####"),
        ("it \\* is", "it  * is"),
        ("un**able** to", "########   to"),
        ("~~old~~ new", "        new"),
        ("about ~~ 5", "about ~~ 5"),
        ('see [the docs](http://a.b/c_d "e") now', "see  the docs                         now"),
        ("see [a](<b c>) and [d](e(f)g).", "see  a        and  d         ."),
        ("a [b] c", "a [b] c"),
        ("a [b](c d) e", "a [b](c d) e"),
        ("a[^1] b", "a     b"),
        ("as [@smith, p. 3] says", "as ############## says"),
        ("![a cat](b.png)", "##a cat########"),
        ("[![a](b)](c) d", " ##a####     d"),
        ('![a](b "It is c") d', "##a#####It is c## d"),
        ("[![a](b 'c *d*')](e \"f\") g", "##a#####c *d*## g"),
        ('![a](b (c\nd)) ![e](f "") g', "##a#####c\nd## ##e####### g"),
        ('![a](b "c) d', '![a](b "c) d'),
        ("the `in x` and ``a ` b`` is", "the ###### and ######### is"),
        ("one ` only", "one ` only"),
        ("is $x_1 = y$ or $$z$$ so", "is ######### or ##### so"),
        ("$5 or $10", "$5 or $10"),
        ("a &amp; b&nbsp;c caf&eacute;", "a ##### b      c ###########"),
        (
            ":star: a :+1: b :bug:, at 10:in:15 :not an: end::a:b",
            "###### a :+1: b #####, at 10:in:15 :not an: end::a:b",
        ),
        ("a <b>b</b> <!-- c --> d", "a    b                d"),
        ("H<sub>2</sub>O is", "############## is"),
        ("a <code>b c</code> <kbd>d</kbd> e", "a ################ ############ e"),
        ("a <https://b.c> <d@e.f> g", "a ############# ####### g"),
        ("see https://a.b/c_d. Then", "see ###############. Then"),
        ("x {{ y.z }} {% if a %} b", "x ######### b"),
        (
            "the {name: a b, c: [d, {e: f}]} is {a b} or {c, d: e}",
            f"the {'#' * 27} is {{a b}} or {{c, d: e}}",
        ),
        ("{% if a %}b c.{% endif %}", "b c."),
        ("{% note %}b c.{% endnote %} {{% d %}} E f.{{% /d %}}", "¶¶¶¶¶¶¶¶¶¶b c. E f.¶¶¶¶¶¶¶¶¶¶"),
        ("a {% data b %} c, {{< d >}}e{{< /d >}} {{< f >}} g", "a ############ c, e ######### g"),
        ("{{ a }}'s b {{c}}d", "#######'s b ######"),
        ("a {% if b %}c{% else %}d{% endif %} e", "a ####################### e"),
        ("a {% if b %} c {% else %} d {% endif %} e", "a c ¶¶¶¶¶¶¶¶¶¶ d ########### e"),
        ("{% if a %} b {% endif %} {% if c %} d {% endif %} e", "b ¶¶¶¶¶¶¶¶¶¶ d ########### e"),
        ("a {% if b %} c {% else %} d. {% endif %}E", "a c ¶¶¶¶¶¶¶¶¶¶ d. E"),
        ("a {{#if b}} c {{/if}} {{!-- d --}} {# e #}", "a c"),
        ("[a]({% link b %}) [c]({{< ref 'd' >}}) <a href='{{< e >}}'>f</a>", "a c f"),
        ("x <%= y %> <% if z %>a<% } else { %> b<%# c %>, <% d", "x ######## a############## b , <% d"),
    ],
)
def test_marks_in_a_line(text, expected):
    assert legible_markdown(text).split() == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A title #\nText", "¶ A title ¶Text"),
        ("{% if a %}- b{% endif %}\n{% c %} # d\ne", "¶ b\n¶ d¶e"),
        ("{{#a}}\nb\n{{/a}}\nc", "¶\nb\n¶\nc"),
        ("A title\n===\nText", "A title\n¶\nText"),
        ("Text\n\n---\n\nmore", "Text\n\n¶\n\nmore"),
        ("#no title", "# title"),
        ("- a\n* b\n  c\n1) d", "¶ a\n¶ b\n c\n¶ d"),
        ("born in\n1984. It was", "born in\n1984. It was"),
        ("- [ ] a\n- [x] b", "¶ a\n¶ b"),
        ("- a\n\n      x = 1\n\n  b", "¶ a\n\n b"),
        ("a\n\n    x = 1\n\nb", "a\n\nb"),
        ("a\n    b", "a\n b"),
        ("a\n```py\nx\n\ny\n```\nb", "a\n¶\n\n ¶\nb"),
        ("a\n~~~\nx", "a\n¶\n"),
        ("> a\nb\n\nc", "¶ \n\nc"),
        ("> [!NOTE]\n> a\n> b\n\nc", "¶\n¶ a\n b\n\nc"),
        ("> **Note**\n> a\n\n> b", "¶ Note\n a\n\n¶"),
        ("> ⚠️ __Warning:__ a\nb", "¶ ⚠️ Warning: a\nb"),
        ("> tip: a", "¶ tip: a"),
        ("> **Noted** a\n> Note: b", "¶\n¶"),
        ("a z | b z\n--|--\nc z | d z\ne z\n\nf", "a z ¶ b z\n¶\nc z ¶ d z¶e z\n\nf"),
        ("a | b c\n--|--\n then | d", "# ¶ b c\n¶\n # ¶ #"),
        ("a | b\nc | d", "a | b\nc | d"),
        ("[a]: http://b.c 'd'\nsee [a]", "¶\nsee a"),
        ("[^1]: A note.\n\n    More of it.", "¶ A note.\n\n More of it."),
        ("---\na: b\n---\nText", "¶\nText"),
        ("---\nText", "¶\nText"),
        ("<pre>\na\n\nb</pre>\nc", "¶\n¶\n\n¶\nc"),
        ("<p align=x>\na\n</p>", "¶\na\n¶"),
        ("$$\n- a\n$$\nb", "¶\n¶\n¶\nb"),
    ],
)
def test_blocks(text, expected):
    assert squeeze(text).replace(" \n", "\n").replace("\n\n\n", "\n\n") == expected.replace(" \n", "\n")


def test_comments_in_code_are_ignored():
    text = "a <!-- b --> `<!-- c -->`\n\n    <!-- d -->\n\n```\n<!-- e -->\n```\n<!-- f\n\ng --> h <!-- i"
    result = read_markup("x.md", text)
    assert [text[start:end] for start, end in result.comments] == ["<!-- b -->", "<!-- f\n\ng -->"]
    assert "h" in result.text and "g" not in result.text


ROOT = Path(__file__).parents[3]

LINES = [
    "Some words stand here.", "and go on", "# A heading", "- an item", "  more of it", "1. first",
    "    indented = code()", "```python", "```", "~~~", "> quoted", "> [!NOTE]", "> **Note:** a", "> more",
    "> ```", ">     x = 1", "> - an item",
    "<!-- a comment", "it ends -->", "<!-- disambig: off -->", "<pre>", "</pre>", "$$", "x $y$ z",
    "| a | b |", "|---|---|", "[label]: https://example.org", "[label] and [other][label]", "[^1]: a note",
    "*bold*", "_em", "`code", "two ` ticks", "---", "+++", "title: x", "...", "===", "<script>", "</script >",
    "a\\*b", ":::", "\ufeff", "it&#39;s",
    "", "", "", "  ", "\t", "ex*am*ple", "{{ x }}", "~~gone~~",
    "{/* x", "y */} z",
]  # fmt: skip

any_texts = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
line_ends = st.sampled_from(["\n", "\r\n"])


def read_whole(text: str) -> PlainText:
    return read_markup("a.md", text)


@given(st.lists(st.tuples(any_texts, line_ends), min_size=1, max_size=3))
@example([("<pre>\n\nA\n\nB", "\n"), ("<pre>\n\nA\n\n</pre\n\n>\nB", "\n")])
@example([("---\n\na: b\n\n---\n<!--\n\nA\n\n-->\n\nB", "\n")])
@example([("A [label]\n\n[label]: x", "\n"), ("A [label]\n\n[labels]: x", "\n")])
def test_incremental_reading_equals_reading_at_once(versions):
    reader = IncrementalMarkdown()
    for text, end in versions:
        text = text.replace("\n", end)
        assert reader.read(text) == read_whole(text)


def test_the_documents_of_this_repository():
    for path in sorted(ROOT.glob("*/**/*.md"))[:40]:
        reader, text = IncrementalMarkdown(), path.read_text("utf8")
        assert reader.read(text) == read_whole(text)
        changed = text.replace(" the ", " teh ", 1)
        assert reader.read(changed) == read_whole(changed)


def test_only_what_changed_is_read_again(monkeypatch):
    read: list[str] = []
    original = pieces._read_segment
    monkeypatch.setattr(
        pieces, "_read_segment", lambda text, *rest: (read.append(text), original(text, *rest))[1]
    )
    reader = IncrementalMarkdown()
    reader.read("One.\n\n- two\n\n- three\n\nFour.\n")
    assert read == ["One.\n\n", "- two\n\n", "- three\n\n", "Four.\n"]
    read.clear()
    reader.read("One.\n\n- two\n\n- thirty-three\n\nFour.\n")
    assert read == ["- thirty-three\n\n"]


@pytest.mark.parametrize("opened", ["```", "<!--"])
def test_an_opened_block_changes_all_that_follows(opened):
    reader = IncrementalMarkdown()
    reader.read("One.\n\nTwo.\n\nThree.\n")
    assert "Three" not in reader.read(f"One.\n\n{opened}\n\nThree.\n").text


MUST_HIDE = "XX"
"""Words with these letters must not be left in the plain text; words with "kept" must be."""


DIALECTS = {
    "tab": '=== "Kept tab"\n\n    The kept body is here.\n\n    ```\n    XX\n    ```\n\n=== "Other kept tab"\n\n    And kept.',
    "admonition": '!!! note "A kept title"\n\n    A kept body.\n\n        XX code\n\nKept after it.\n\n    XX code\n',
    "admonition in a list": "- kept item\n\n    !!! warning\n\n        A kept body.\n\n- kept item",
    "collapsed": "??? XXnote\n    A kept body.\n\n    - a kept item\n",
    "expanded": '???+ XXtip "Kept"\n    A kept body.\n',
    "callout": "> [!XXtip]- A kept title\n> The kept body.\n",
    "nested callout": "> [!XXquestion] Kept?\n> > [!XXtodo] Kept.\n> > And kept.\n",
    "code in an alert": "> [!NOTE]\n> Kept:\n>\n> ```sh\n> XX\n>\n> XX\n> ```\n> Kept.\n\nKept.\n\n```\nXX\n```\nKept.",
    "code in a remark in a list": "1. kept\n\n   > **Note:** Kept.\n   > ~~~\n   > XX\n   > ~~~\n   > Kept.\n\n2. kept item",
    "code in nested callouts": "> [!tip]\n> > [!note]\n> > Kept.\n> > ```\n> > XX\n> > ```\n> > Kept.\n>\n> Kept.\n",
    "code ends with the alert": "> [!NOTE]\n> ```\n> XX\nKept.\n\n> [!tip]\n> > ```\n> > XX\n> Kept.\n",
    "raw blocks in an alert": "> [!NOTE]\n> Kept:\n> $$\n> XX\n> $$\n> Kept.\n> <pre>\n> XX\n> </pre>\n> Kept.\n> <!-- XX\n> XX -->\n> Kept.",
    "indented code in an alert": "> [!NOTE]\n> Kept.\n>\n>     XX\n>\n> - kept item\n>\n>     Kept.\n>\n>       XX\n\nKept.",
    "wiki link": "The kept text of [[XX note|the kept page]] and [[XX other]] and ![[XX.png]].",
    "wiki link in a table": "| a kept | b kept |\n|---|---|\n| in [[XX\\|the kept]] | two kept |",
    "tag": "The kept words #XXtag and #XX/inner-XX.",
    "comment": "A kept %%XX comment%% text.\n\n%%\nXX\n\nXX\n%%\n\nKept.",
    "comment of JSX": "A kept {/* XX */} text.\n\n{/*\nXX\n\nXX\n*/}\n\nKept {/* or kept.\n\n`{/* XX */}` is kept.",
    "block id": "A kept paragraph. ^XX-1\n\n- a kept item ^XX2\n",
    "directive": "```{admonition} A kept title\n:class: XX\n:XX: XX\nThe kept body.\n```\n\nKept.\n\n```\nXX\n```\n",
    "reStructuredText": "```{eval-rst}\n.. note::\n\n   Kept.\n\n.. XX\n\n::\n\n   XX\n\nKept ``XX`` :ref:`Kept <XX>`.\n```\nKept.\n\n```{eval-rst}\nXX",
    "nested directives": "````{note}\nKept.\n```{tip}\nKept.\n```\n\n```python\nXX\n```\nKept.\n````\n\n```\nXX\n```",
    "code cell": "```{code-cell} python\n:tags: [XX]\nXX = 1\n```\n\nKept.\n\n```{r}\n#| label: XX\nXX\n```\n",
    "colons": ":::{XXnote} A kept title\n:class: XX\nKept.\n:::\n\n:::{code-block} XX\nXX\n:::\n\nKept.",
    "containers": "::: XXtip A kept title\nKept.\n:::\n\n:::XXnote[A kept title]\nKept.\n:::\n\n::: {.callout-XX}\nKept.\n:::",
    "components of MDC": '::XXcard{icon="XX" title="XX"}\n---\nXX: XX\ntitle: Kept title\n---\n#XXslot\nKept slot.\n\n'
    'Kept :XXbadge[kept text]{color="XX"}, :XXicon{name="XX"} and kept :XXkbd[key].\n::\n\nKept.\n\n    XX\n',
    "indented components of MDC": "::XXgroup\n  ::XXcard[Kept title]\n  ---\n  XX: XX\n  ---\n  Kept text.\n\n"
    "    :::XXtip\n    Kept tip.\n    :::\n  ::\n::\n\nKept.\n\n    XX\n",
    "blocks of PyMdown": "/// XXnote | A kept title\n    XX: XX\nA kept text.\n\n//// html | div.XX\nKept.\n////\n///\n\n/// XXtip\nKept.\n///\n",
    "target": "(XX-label)=\n## Kept\n\nKept (kept)= kept.\n",
    "attributes": 'A kept [kept link](XX){target="_XX" .XX}, [kept span]{.XX} and [kept][XX]{#XX XX=\'XX\'}, [kept]{not}.\n\n[XX]: XX',
    "shown attributes": "<img src='XX' alt='Kept words stand here' title=\"Kept words stand there\">\n\n"
    '<button aria-label="Kept words stand here" class="XX XX XX">Kept</button> <b title="XX XX">kept</b>\n\n'
    'The [kept](XX "Kept words of the title") and [kept](XX "XX title") end.\n\n[XX]: XX "Kept words stand here"\n[XX]: XX \'XX\'\n\n'
    '![Kept](XX){#XX fig-alt="Kept words stand here"}\n\n::: {.callout-XX title="Kept words stand here"}\nKept.\n:::\n\n'
    '{% include XX content="Kept words stand here" class="XX XX XX" %}\n\n{{< figure src="XX" caption="Kept words stand here" >}}\n',
    "shown options": "```{figure} XX\n:alt: Kept words\n:name: XX\n\nKept.\n```\n\n```{list-table} Kept title\n:XX: 1\n\n* - Kept cell\n```\n",
    "remark of kramdown": "{: .note }\n> Kept.\n\n{: .XX }\n> XX\n",
    "options of cells": "```{r}\n#| label: fig-XX\n#| fig-cap: \"A kept caption.\"\n#| XX: false\n#| fig-alt: |\n#|   Kept\n"
    "#|   kept.\n#| fig-subcap:\n#|   - \"A kept part\"\n#| tbl-cap: !expr XX\nXX\n#| fig-cap: XX\n```\n\nKept.\n\n"
    "```{r XX, fig.cap=\"It's kept\", echo=XX}\nXX\n```\n\n```{ojs}\n//| fig-cap: 'Kept here'\nXX\n```\n\n```r\n#| fig-cap: XX\n```\n",
    "types and names in braces": "Kept {XX|XX[]} kept, {XX.XX}; {not code} is kept.",
    "role": "See kept {ref}`XX` and {py:func}`XX.XX` for kept.",
    "reference": "As in kept @fig-XX, kept.",
    "highlight": "Kept.\n\n{% highlight ruby %}\nXX\n\nXX\n{% endhighlight %}\n\nKept {% raw %}XX{{ XX }}{% endraw %}.",
    "hugo": '{{< highlight go "XX" >}}\nXX\n\nXX\n{{< /highlight >}}\n\nKept {{< ref "XX" >}}.',
    "shortcodes": '{{% notice XX %}}\nKept words.\n{{% /notice %}}\n{% include XX %}\nKept.',
    "marked text": "The ==kept== words and ==a longer\nkept mark==; kept == kept.",
    "mathematics in brackets": "Kept \\(XX = x\\), \\\\(XX_1\\\\), \\[\nXX + 1\n\\] and \\(n\\) but \\(as kept\\) and \\[kept\\].",
    "no mathematics": "It is $1, and the kept words are $1...$n here, but $XX$th and $XX = b$ are not kept.\n",
    "mathematics in lines": "Kept:\n\\[\nXX\n\n= XX\n\\]\n\n- Kept.\n\n  \\\\[\n  XX\n  \\\\]\n\nKept.",
    "LaTeX": "Kept.\n\n\\begin{align*}\nXX\n\nXX\n\\end{align*}\n\n\\newXX\n\\vspace[XX]{XX}\nKept \\@ref(fig:XX) and \\cite{XX}.",
    "lines of LaTeX with prose": "\\textbf{Kept words stand here.}\n\n\\section{Kept title}\n\n\\setmainfont{XX XX}\n",
    "LaTeX with text": "\\begin{XXtheorem}\nKept.\n\\end{XXtheorem}\n",
    "definitions": "Kept term\n: Kept here.\n\n    Kept there.\n\n        XX\n\nOther kept term\n\n:   Kept.\n",
    "abbreviations": "Kept words of HTML.\n\n*[XXHTML]: Kept text\n*[XX]: Kept\n",
    "footnote in the text": "Kept.^[A kept note, see [kept](XX).] Kept^[Kept.] here.",
    "modules": "import XX from '@XX/XX';\nimport {XX, YY as XX} from \"XX\"\nimport 'XX.css'\n\nKept.\n\nWe kept them, to import from 'kept'.",
    "mdx-code-block": "```mdx-code-block\nimport XX from 'XX';\n\n<XX a=\"XX\">\n\nKept.\n\n</XX>\n```\n\nKept.\n\n```mdx\nXX\n```\n",
    "yaml": '---\ntitle: Kept words\nXX: XX\n# XX\ndescription: >-\n  Kept lines\n  kept here\ntags: [XX, "XX"]\n'
    "summary: 'Kept # words' # XX\nauthors:\n  - XX: XX\n---\n\nKept.",
    "toml": '+++\ntitle = "Kept words" # XX\nXX = "XX"\ndescription = """\nKept\nwords"""\n[XX]\ndate = 2020\n+++\nKept.',
}  # fmt: skip

MDX = {
    "modules": "import XX from 'XX';\nimport { XX } from \"XX\"\n\nexport const XX = {\n  a: 'XX',\n\n  b: XX\n}\n\nKept.",
    "words": "We kept it, to import from abroad and\nexport the kept goods.",
    "comment": "A kept {/* XX */} text.\n\n{/*\nXX\n\nXX\n*/}\n\nKept.",
    "expression": "A kept {XX.map(a => { return 'XX}' })} text.\n\n{XX && (\n\n<p>XX</p>\n)}\n\nKept.",
    "tags": '<XXTabs a={x > 1 ? "XX" : {b: 1}} c="XX > XX">\n    <XXTab>\n\n        Kept words.\n\n    </XXTab>\n</XXTabs>\n',
    "inline tag": 'Press <XXKey a="XX">the kept key</XXKey>, kept <XXIcon />.',
    "fragment": "<>\n\nKept.\n\n</>",
    "code": "Kept `<XX` and {kept\n\n```jsx\n<XX a={\n```\n\nKept. 3 < 4 kept.",
    "HTML": "A <b style={{a: 'XX'}}>kept</b> <code>{`XX`}</code> kept.\n\n<pre>\n{`XX\n\nXX`}\n</pre>\n\nKept.",
    "no indented code": "Kept.\n\n    Kept.\n",
    "shown attributes": '<XXTab label="Kept words stand here" value="XX XX XX">\n\nKept <XXIcon title={\'Kept words of the icon\'} /> kept.\n\n</XXTab>\n',
}  # fmt: skip

DIALECT_CASES = [("x.md", name, text) for name, text in DIALECTS.items()]
DIALECT_CASES += [("x.mdx", name, text) for name, text in MDX.items()]


@pytest.mark.parametrize(
    ("path", "name", "text"), DIALECT_CASES, ids=[f"{path}-{name}" for path, name, _ in DIALECT_CASES]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_prose_is_kept_and_the_rest_is_hidden(path, name, text, line_end):
    text = text.replace("\n", line_end)
    plain = plain_text(path, text)
    assert len(plain) == len(text)
    assert MUST_HIDE not in plain, plain
    assert plain.casefold().count("kept") == text.casefold().count("kept")
    if path.endswith(".md"):
        assert IncrementalMarkdown().read(text).text == plain


@pytest.mark.parametrize(
    ("path", "text", "after"),
    [
        ("x.md", '!!! note "Its title"\n    The body', "title"),
        ("x.md", "> [!tip] Its title\n> The body", "title"),
        ("x.md", "/// note | Its title\nThe body\n///", "title"),
        ("x.md", ":::note Its title\nThe body\n:::", "title"),
        ("x.md", "```{note} Its title\nThe body\n```", "title"),
        ("x.md", "---\ntitle: Its title\nsummary: The body\n---\n", "title"),
        ("x.md", "The title\n{% include a %}\nThe body", "title"),
        ("x.mdx", "<Tab>Its title</Tab>\n<Tab>The body</Tab>", "title"),
        ("x.md", "Its **title**  \nThe body", "title"),
        ("x.md", "Its title\\\r\n**The body**", "title"),
    ],
)
def test_titles_end_their_sentences(path, text, after):
    plain = plain_text(path, text)
    between = plain[plain.index(after) + len(after) : plain.index("body") - 4]
    assert BREAK in between


def test_other_line_breaks_end_no_sentence():
    for text in ("One line\nThe other", "One line  \nand the other"):
        assert BREAK not in plain_text("x.md", text)


def test_inline_tags_of_mdx_end_no_sentence():
    plain = plain_text("x.mdx", "Press <Key>the key</Key> or the <Icon /> now.")
    assert BREAK not in plain
    assert plain.count(OPAQUE) == len("<Icon />")


def test_lines_that_only_look_like_markup_are_text():
    text = "It grew by 50%% and 60%% then.\n\nThe C# code is in issue #12. See [[1]](https://x.y) too.\n"
    plain = plain_text("x.md", text)
    assert "50%% and 60%% then" in plain
    assert "C# code is in issue #12" in plain
    assert "1" in plain[plain.index("See") :]


@pytest.mark.parametrize(
    ("name", "text", "comments"),
    [
        ("x.mdx", "a {/* b */} c `{/* d */}`\n\n{/* e\n*/}\n\n<!-- f -->", ["{/* b */}", "{/* e\n*/}", "<!-- f -->"]),
        ("x.md", "a %%b%% c\n\n%%\nd\n\n%%\n", ["%%b%%", "%%\nd\n\n%%"]),
        ("x.md", "---\n# a\nb: 'c # d' # e\nf: |\n  # g\n---\n", ["# a", "# e"]),
        ("x.md", "+++\n# a\nb = 'c # d' # e\n+++\n", ["# a", "# e"]),
        ("x.md", "% a\n\nIt is b\n% of c.\n\n% d\n", ["% a", "% d"]),
    ],
)  # fmt: skip
def test_comments_of_dialects(name, text, comments):
    plain = read_markup(name, text)
    assert [text[start:end] for start, end in plain.comments] == comments


DIALECT_PIECES = [
    *"aA .\n\r\t`<>{}[]()|%#^:!?=\"'/\\*-+~$@\ufeff\u2029\U0001f600",
    *('=== "a"', "!!! note", "    ", "> [!tip]-", "[[", "]]", "%%", "```{note}", "```{eval-rst}\n", "```", ":::", "{ref}`"),
    *("---\n", "+++\n", "title:", "title =", "|", ">-", '"""', "\n\n", "\r\n", "# ", "- "),
    *("{% raw %}", "{% endraw %}", "{{< highlight >}}", "{{< /highlight >}}", "{{", "}}", "{% if a %}", "{% else %}"),
    *("{% endif %}", "{% note %}", "{% endnote %}", "{{< a >}}", "{{< /a >}}", "{{#b}}", "{{!-- c --}}"),
    *("/// a", "///", "| b c", "(a)=\n"),
    *("::a", "::a{b}\n", "\n::\n", ":a[", ":a{", "]{.a}", "```{r}", "\n#| fig-cap: ", "\n#|  - 'a b'", "fig.cap='a'"),
    *("a `in`", "An `a`", "an `in ", "\ue000"),
    *("import a from 'b'", "export const a = {", "{/*", "*/}", "<A b={", "/>", "</A>", "<pre>", "</pre>", "<>"),
]  # fmt: skip


@given(
    st.lists(st.sampled_from(DIALECT_PIECES), max_size=40).map("".join),
    st.sampled_from(["x.md", "x.mdx", "x.qmd"]),
)
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_offsets_of_dialects_stay(text, path):
    plain = read_with_offsets(path, text)
    if path != "x.mdx":
        assert IncrementalMarkdown().read(text) == plain


@pytest.mark.parametrize("path", ["x.md", "x.mdx"])
@pytest.mark.parametrize(
    "mark",
    [
        *("==a", "==", "a==", "\\(", "\\[", "\\\\[", "\\[\n", "\\begin{align}\n", "^[", "^[a]", "*[a]: b\n", ": a\n", "\\ref{"),
        *("```mdx-code-block\n", "import a from 'b'\n", "\\(a\\)"),
        *("[[a", "[[a|", "%%", " %%", "#a ", " ^a", "{% raw %}", "{{< highlight >}}", "{% raw %}\n", "{a}`"),
        *('=== "a"\n', "!!! a\n", "!!! a a ", "```{note}\n", "```{eval-rst}\n", ":::{note}\n", ":::a\n", "> [!a] b\n", "> " * 9),
        *("::a\n", "::a\n---\n", "::\n", ":a[", ":a[b]", ":a{", "[a]{.", "[a]{.b", "[a]{b=c d ", "```{r}\n", "```{r}\n#| a: b\n"),
        *("```{r}\n#| fig-cap: a\n", "```{r, fig.cap='", "#a\n"),
        *("<A>", "<A ", "<A b={", "</A>", "{", "{`", "{/*", "{'", "`{", "<a '", '<a "', "import a from 'b'\n\n"),
        *("export const a = {\n\n", "export const a = `\n\n", "<pre>", "| a ", "a | b\n-|-\n", "~~~ "),
        *("<a title='", '<A title="a b c" ', '[a](b "a b c d e") ', "{% a title='b ", "[a]: b 'c d e'\n"),
    ],
)  # fmt: skip
def test_many_marks_of_dialects_take_linear_time(path, mark):
    fronts = ("", "---\n", "---\ntitle: >\n", "+++\ntitle = ") if path == "x.md" else ("", "---\n")
    for front in fronts:
        assert reads_in_linear_time(path, mark, 4_500, front + "{}"), front


@pytest.mark.parametrize(
    "mark", ["title: '\n", "title: a\n", "title:\n ", "a: |\n", "- title: >\n ", "'", 'title = """\n']
)
@pytest.mark.parametrize("fence", ["---", "+++"])
def test_long_front_matter_takes_linear_time(mark, fence):
    assert reads_in_linear_time("x.md", mark, 17_000, f"{fence}\n{{}}\n{fence}\n")


SOUNDS = {
    SPOKEN_VOWEL: "int Option aria-label element hour_of_day unknown update".split(),
    SPOKEN_CONSONANT: ("string user_id unit useState one Float header euro json three printf square".split()),
    OPAQUE: [*"str hr html href ul x --ha @objc .env $x URL nginx lstat xarray".split(), "a b"],
}


@pytest.mark.parametrize(
    ("sound", "code"),
    [(sound, code) for sound, names in SOUNDS.items() for code in names],
    ids=[code for names in SOUNDS.values() for code in names],
)
@pytest.mark.parametrize("article", ["a", "an"])
def test_code_after_an_article_has_the_sound_that_its_name_begins_with(article, sound, code):
    """It has none if people read the name in different ways."""
    hidden = sound * (len(code) + 2)
    assert read_markup("x.md", f"Use {article} `{code}` here.").text == f"Use {article} {hidden} here."


def test_tags_within_hidden_code_are_not_read():
    text = read_markup("x.html", 'Use an <em class="replaceable"><code>action</code></em> here.').text
    assert text.count(SPOKEN_VOWEL) > 0 == text.count(SPOKEN_CONSONANT)
    text = read_markup("x.html", "Use an <samp><b>user</b></samp> here.").text
    assert text.count(SPOKEN_CONSONANT) > 0 == text.count(SPOKEN_VOWEL)
    text = read_markup("x.html", "Use an <code><span>NCBI.Helper</span></code> here.").text
    assert SPOKEN_CONSONANT not in text and SPOKEN_VOWEL not in text


def test_only_behind_an_article():
    assert read_markup("x.md", "Use the `int` of data `int`.").text.count(OPAQUE) == 10
