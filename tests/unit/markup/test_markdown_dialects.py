"""Markdown of MkDocs, Obsidian, MyST, Quarto, Jekyll, Hugo and MDX, and front matter, as plain text."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import grows_linearly

from disambig.markup import BREAK, OPAQUE, IncrementalMarkdown, plain_text, read_markup

HIDDEN = "XX"
"""Words with these letters must not be left in the plain text; words with "kept" must be."""

MARKDOWN = {
    "tab": '=== "Kept tab"\n\n    The kept body is here.\n\n    ```\n    XX\n    ```\n\n=== "Other kept tab"\n\n    And kept.',
    "admonition": '!!! note "A kept title"\n\n    A kept body.\n\n        XX code\n\nKept after it.\n\n    XX code\n',
    "admonition in a list": "- kept item\n\n    !!! warning\n\n        A kept body.\n\n- kept item",
    "collapsed": "??? XXnote\n    A kept body.\n\n    - a kept item\n",
    "expanded": '???+ XXtip "Kept"\n    A kept body.\n',
    "callout": "> [!XXtip]- A kept title\n> The kept body.\n",
    "nested callout": "> [!XXquestion] Kept?\n> > [!XXtodo] Kept.\n> > And kept.\n",
    "wiki link": "The kept text of [[XX note|the kept page]] and [[XX other]] and ![[XX.png]].",
    "wiki link in a table": "| a kept | b kept |\n|---|---|\n| in [[XX\\|the kept]] | two kept |",
    "tag": "The kept words #XXtag and #XX/inner-XX.",
    "comment": "A kept %%XX comment%% text.\n\n%%\nXX\n\nXX\n%%\n\nKept.",
    "block id": "A kept paragraph. ^XX-1\n\n- a kept item ^XX2\n",
    "directive": "```{admonition} A kept title\n:class: XX\n:XX: XX\nThe kept body.\n```\n\nKept.\n\n```\nXX\n```\n",
    "nested directives": "````{note}\nKept.\n```{tip}\nKept.\n```\n\n```python\nXX\n```\nKept.\n````\n\n```\nXX\n```",
    "code cell": "```{code-cell} python\n:tags: [XX]\nXX = 1\n```\n\nKept.\n\n```{r}\n#| label: XX\nXX\n```\n",
    "colons": ":::{XXnote} A kept title\n:class: XX\nKept.\n:::\n\n:::{code-block} XX\nXX\n:::\n\nKept.",
    "containers": "::: XXtip A kept title\nKept.\n:::\n\n:::XXnote[A kept title]\nKept.\n:::\n\n::: {.callout-XX}\nKept.\n:::",
    "types and names in braces": "Kept {XX|XX[]} kept, {XX.XX}; {not code} is kept.",
    "role": "See kept {ref}`XX` and {py:func}`XX.XX` for kept.",
    "reference": "As in kept @fig-XX, kept.",
    "highlight": "Kept.\n\n{% highlight ruby %}\nXX\n\nXX\n{% endhighlight %}\n\nKept {% raw %}XX{{ XX }}{% endraw %}.",
    "hugo": '{{< highlight go "XX" >}}\nXX\n\nXX\n{{< /highlight >}}\n\nKept {{< ref "XX" >}}.',
    "shortcodes": '{{% notice XX %}}\nKept words.\n{{% /notice %}}\n{% include XX %}\nKept.',
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
}  # fmt: skip
CASES = [("x.md", name, text) for name, text in MARKDOWN.items()]
CASES += [("x.mdx", name, text) for name, text in MDX.items()]


@pytest.mark.parametrize(("path", "name", "text"), CASES, ids=[f"{path}-{name}" for path, name, _ in CASES])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_prose_is_kept_and_the_rest_is_hidden(path, name, text, line_end):
    text = text.replace("\n", line_end)
    plain = plain_text(path, text)
    assert len(plain) == len(text)
    assert HIDDEN not in plain, plain
    assert plain.casefold().count("kept") == text.casefold().count("kept")
    if path.endswith(".md"):
        assert IncrementalMarkdown().read(text)[0] == plain


@pytest.mark.parametrize(
    ("path", "text", "after"),
    [
        ("x.md", '!!! note "Its title"\n    The body', "title"),
        ("x.md", "> [!tip] Its title\n> The body", "title"),
        ("x.md", ":::note Its title\nThe body\n:::", "title"),
        ("x.md", "```{note} Its title\nThe body\n```", "title"),
        ("x.md", "---\ntitle: Its title\nsummary: The body\n---\n", "title"),
        ("x.md", "The title\n{% include a %}\nThe body", "title"),
        ("x.mdx", "<Tab>Its title</Tab>\n<Tab>The body</Tab>", "title"),
    ],
)
def test_titles_end_their_sentences(path, text, after):
    plain = plain_text(path, text)
    between = plain[plain.index(after) + len(after) : plain.index("body") - 4]
    assert BREAK in between


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
def test_comments_are_found(name, text, comments):
    plain = read_markup(name, text)
    assert [text[start:end] for start, end in plain.comments] == comments


PIECES = [
    *"aA .\n\r\t`<>{}[]()|%#^:!?=\"'/\\*-+~$@\ufeff\u2029\U0001f600",
    *('=== "a"', "!!! note", "    ", "> [!tip]-", "[[", "]]", "%%", "```{note}", "```", ":::", "{ref}`"),
    *("---\n", "+++\n", "title:", "title =", "|", ">-", '"""', "\n\n", "\r\n", "# ", "- "),
    *("{% raw %}", "{% endraw %}", "{{< highlight >}}", "{{< /highlight >}}", "{{", "}}"),
    *("import a from 'b'", "export const a = {", "{/*", "*/}", "<A b={", "/>", "</A>", "<pre>", "</pre>", "<>"),
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(["x.md", "x.mdx", "x.qmd"])
)
@settings(max_examples=max(300, settings.default.max_examples), deadline=None)
def test_offsets_stay_those_of_the_file(text, path):
    plain = read_markup(path, text)
    assert len(plain.text) == len(text)
    for old, new in zip(text, plain.text, strict=True):
        assert new == old or not new.isalnum()
    for start, end in plain.comments:
        assert 0 <= start < end <= len(text)
    if path != "x.mdx":
        assert IncrementalMarkdown().read(text) == (plain.text, plain.comments)


@pytest.mark.parametrize("path", ["x.md", "x.mdx"])
@pytest.mark.parametrize(
    "mark",
    [
        *("[[a", "[[a|", "%%", " %%", "#a ", " ^a", "{% raw %}", "{{< highlight >}}", "{% raw %}\n", "{a}`"),
        *('=== "a"\n', "!!! a\n", "!!! a a ", "```{note}\n", ":::{note}\n", ":::a\n", "> [!a] b\n", "> " * 9),
        *("<A>", "<A ", "<A b={", "</A>", "{", "{`", "{/*", "{'", "`{", "<a '", '<a "', "import a from 'b'\n\n"),
        *("export const a = {\n\n", "export const a = `\n\n", "<pre>", "| a ", "a | b\n-|-\n", "~~~ "),
    ],
)  # fmt: skip
@pytest.mark.parametrize("front", ["", "---\n", "---\ntitle: >\n", "+++\ntitle = "])
def test_many_marks_take_linear_time(path, mark, front):
    assert grows_linearly(lambda size: plain_text(path, front + mark * (size // len(mark))), 100_000)


@pytest.mark.parametrize(
    "mark", ["title: '\n", "title: a\n", "title:\n ", "a: |\n", "- title: >\n ", "'", 'title = """\n']
)
@pytest.mark.parametrize("fence", ["---", "+++"])
def test_long_front_matter_takes_linear_time(mark, fence):
    def read(size: int) -> None:
        text = f"{fence}\n" + mark * (size // len(mark)) + f"\n{fence}\n"
        assert len(plain_text("x.md", text)) == len(text)

    assert grows_linearly(read, 100_000)
