"""The HTML report: marks, summary, colours, and escaping of any text."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import re
from html.parser import HTMLParser
from itertools import combinations

import numpy as np
import pytest
from format_samples import annotated, encode
from hypothesis import given, strategies as st

from disambig.data import Alternative, Group, OverlapResolution
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, escape, html as summary

TEXT = "We came during 1997 to\na quite place.\n\nNothing here.\r\n\r\nA Quite place & <b>it</b>"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """A parsed page; unbalanced tags are an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict]] = []
        self.tags: list[tuple[str, dict]] = []
        self.marks: list[str] = []
        self.paragraphs: list[str] = []
        self.title = ""
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        assert tag == tag.lower()
        assert len(dict(attributes)) == len(attributes)
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes)))
        if tag == "mark":
            self.marks.append("")
        if tag == "p" and "section" in self.names():
            self.paragraphs.append("")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if "title" in self.names():
            self.title += data
        if "section" in self.names() and "p" in self.names() and not self.inside_card():
            self.paragraphs[-1] += data
            if "mark" in self.names():
                self.marks[-1] += data

    def names(self):
        return [name for name, _ in self.open]

    def inside_card(self):
        return any(attributes.get("class") == "c" for _, attributes in self.open)

    def of(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.tags if name == tag]


def render_html(*results: AnnotatedDocument, chunks: int = 1) -> str:
    return encode("html", *results, chunks=chunks).decode()


def parse_page(*results: AnnotatedDocument) -> Page:
    return Page(render_html(*results))


def read_style(html: str) -> str:
    return re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]


def test_suggestions_are_not_part_of_the_text():
    page = parse_page(annotated(TEXT))
    assert page.marks == ["during", "quite", "Quite"]
    assert page.paragraphs == [
        "We came during 1997 to\na quite place.",
        "Nothing here.",
        "A Quite place & <b>it</b>",
    ]
    assert [mark["data-to"] for mark in page.of("mark")] == ["from", "quiet", "Quiet"]
    assert page.title == "3 flags in 1 document"
    result = annotated(TEXT)
    doubtful = dataclasses.replace(
        result.decisions[0], probabilities=np.full_like(result.decisions[0].probabilities, 0.3)
    )
    page = parse_page(AnnotatedDocument(result.document, (doubtful, result.decisions[1])))
    noted = [(mark["data-from"], mark["data-to"], mark["data-p"], mark["class"]) for mark in page.of("mark")]
    assert noted == [
        ("during", "from", "30\u00a0%?", "f k0 u"),
        ("quite", "quiet", "90\u00a0%", "f k1"),
        ("Quite", "Quiet", "90\u00a0%", "f k1"),
    ]
    assert page.marks == ["during", "quite", "Quite"]
    style = read_style(render_html(result))
    assert style.count("attr(data-p)") == 3  # after the word, in the margin, in print


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (Alternative("slip", 8, 14, "from", 0.25), ""),
        (Alternative("slip", 8, 14, "until", 0.25), "or <b>until</b> (slip)"),
        (Alternative("form", 3, 7, "come", 0.25), "or <s>came</s> → <b>come</b> (form)"),
    ],
)
def test_proposals_of_other_tasks_are_in_the_card_unless_they_are_the_same(other, line):
    result = annotated(TEXT)
    preposition = result.decisions[0]
    rows = np.flatnonzero(preposition.flagged)[:1]
    settled = OverlapResolution(np.zeros(0, np.int64), rows, (other,))
    flags = dataclasses.replace(preposition, settled=settled)
    html = render_html(AnnotatedDocument(result.document, (flags,)))
    lines = re.findall(r'<span class="m">(or .*?)</span>', html)
    assert [re.sub("</?bdi>", "", proposal) for proposal in lines] == [line] * bool(line)


def paragraphs(page: Page, key: str) -> list[str | None]:
    """Return an attribute of each paragraph."""
    return [paragraph.get(key) for paragraph in page.of("p") if "dir" in paragraph]


def test_paragraphs_have_numbers_and_verse_keeps_its_lines():
    assert paragraphs(parse_page(annotated(TEXT)), "data-line") == ["1", "4", "6"]
    assert paragraphs(parse_page(annotated("a quite place", line=7, kind="line")), "data-line") == [None]
    prose = "\n".join(["a line of prose that somebody wrapped by hand at some width"] * 3)
    page = parse_page(annotated(f"{prose}\n\nRoses\nare red\n\nOne line"))
    assert paragraphs(page, "class") == ["ok", "v ok", "ok"]


def test_marks_can_be_reached_and_have_their_card():
    html = render_html(annotated(TEXT), annotated(TEXT, "b.txt"), chunks=2)
    page = Page(html)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for mark in page.of("mark"):
        assert mark["tabindex"] == "0"
        assert mark["aria-describedby"] in ids
    assert all(link["href"] == "#" or link["href"][1:] in ids for link in page.of("a"))
    card = html.partition('role="tooltip"')[2].partition("</mark>")[0]
    assert "during" in card
    assert "2.25" not in card
    assert re.findall(r'<span class="n">([^<]+)</span>', card) == ["90\u00a0%", "10\u00a0%"]
    assert re.findall(r'<rect width="([^"]+)"', card) == ["90.0", "10.0"]
    assert "also possible: <bdi>in</bdi>, <bdi>to</bdi>, <bdi>until</bdi>" in card
    assert "n-grams" not in html
    assert "wrong with probability 90\u00a0%" in card and "as written" in card


def test_the_summary_counts_and_leads_to_the_first_place():
    html = render_html(annotated("no it"), annotated(TEXT, "b"), annotated("a quite place", "c"), chunks=2)
    top = html.partition("<main>")[0]
    figures = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", top)
    n_words = str(len(f"no it {TEXT} a quite place".split()))
    assert figures[:3] == [("documents", "3"), ("words", n_words), ("flags", "4")]
    places = re.findall(r'<li><a href="#([^"]*)"><s><bdi>(.*?)</bdi>.*?<small>(\d)&times;', top)
    assert [(word, count) for _, word, count in places] == [("quite", "3")]
    first = Page(html).of("mark")[[mark["id"] for mark in Page(html).of("mark")].index(places[0][0])]
    assert first["data-to"] == "quiet"
    assert "By document: flags in 2 of 3" in top and "Not shown: 1 document without flags." in top
    rules = re.findall(r'key">(.*?)</span>.*?<rect width="(.*?)".*?<td>(.*?)</td><td>(.*?) per', top)
    assert rules == [("spelling", "100.0", "3", "150.0"), ("preposition", "33.3", "1", "50.0")]
    assert "Most frequent" not in render_html(annotated("a quite place"))
    assert "Most frequent" in render_html(annotated("a quite place"), annotated("a quite place"))


@pytest.mark.parametrize(
    "text",
    [
        '<script>alert("a quite place ")</script>',
        "quite place ' onmouseover='x' \" onfocus=\"y",
        "&lt;script&gt; quite place &amp;",
        "</mark></p></section></body><img src=//example.org/x> quite place",
        "<!-- quite place -->]]> <![CDATA[",
        "\x01\x1b[31m quite place \x7f\x9b\ufffe",
        "\u202equite place \u2066 during 1997 \u061c",
        "quite place \ud800 \udfff",
        "{d1} %s {0} quite place \\0",
    ],
)
def test_hostile_text_is_text(text):
    page = parse_page(annotated(text, text[:40]), annotated(text, text, line=1, kind="line"))
    rule_names = set(
        "html head meta title style body header h1 h2 dl div dt dd table tr th td ol li details".split()
    )
    rule_names |= set("summary main section p mark span bdi b s a small footer svg rect label input".split())
    assert {tag for tag, _ in page.tags} <= rule_names
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.marks.count("quite") == 2
    assert page.paragraphs[0] == page.paragraphs[1]
    shown = page.paragraphs[0]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe]", shown)
    if text.isprintable():
        assert shown == text


def test_every_character_of_markup_is_escaped_in_attributes_too():
    assert escape("a\"b'c<d>e&f\r\ng\rh\x00\uffff") == "a&quot;b&#39;c&lt;d&gt;e&amp;f\ng\nh\u2400\ufffd"
    result = annotated("a quite place")
    name = "\" onfocus='x'><script>"
    hostile = dataclasses.replace(result.decisions[1], task=name, table=(Group("g", ("quite", name)),))
    page = parse_page(AnnotatedDocument(result.document, (hostile,)))
    assert page.of("mark")[0]["data-to"] == name
    attributes = "class id tabindex aria-describedby data-to data-from data-p"
    assert set(page.of("mark")[0]) == set(attributes.split())


@given(text=st.text(st.characters() | st.sampled_from("<>&\"' \n\r")), more=st.booleans())
def test_any_text_gives_valid_html(text, more):
    result = annotated(text + " a quite place")
    page = parse_page(result, *[annotated("in it", text)] * more)
    expected = Page(f"<section><p>{escape(text + ' a quite place')}</p></section>")
    ours, theirs = ("".join("".join(p.paragraphs).split()) for p in (page, expected))
    assert ours == theirs


def test_the_page_loads_nothing_and_its_policy_allows_only_the_style():
    html = render_html(annotated(TEXT + " see https://example.org/x?y=1&z"))
    page = Page(html)
    for _, attributes in page.tags:
        assert not {"src", "srcset", "style", "action", "xlink:href"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in html
    assert "@import" not in html
    (policy,) = [meta["content"] for meta in page.of("meta") if "http-equiv" in meta]
    style = read_style(html)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_one_mark_holds_decisions_that_overlap():
    result = annotated("a quite place in it")
    first = result.decisions[1]
    other = dataclasses.replace(first, task="other", ends=first.ends + np.int32(6))
    both = AnnotatedDocument(result.document, (*result.decisions, other))
    page = parse_page(both)
    assert page.marks == ["quite place"]
    assert page.paragraphs == ["a quite place in it"]
    assert len([span for span in page.of("span") if span.get("class") == "h"]) == 2


def labels(result: AnnotatedDocument) -> AnnotatedDocument:
    """Turn the decisions on prepositions into labels: nothing observed, nothing flagged."""
    first, spelling = result.decisions
    n = len(first)
    groups = (Group("kind", ("place", "time", *first.table[0].candidates[2:])),)
    given = {
        "observed": np.full(n, -1, np.int32),
        "chosen": np.ones(n, np.int32),
        "flagged": np.zeros(n, bool),
    }
    labelled = dataclasses.replace(first, task="kind", table=groups, **given)
    return AnnotatedDocument(result.document, (labelled, spelling))


def test_labels_are_marked_and_counted():
    html = render_html(labels(annotated(TEXT)))
    page = Page(html)
    assert page.marks == ["during", "to", "quite", "Quite"]
    assert [mark["class"] for mark in page.of("mark")] == ["l", "l", "f k0", "f k0"]
    assert page.title == "2 flags in 1 document"
    assert "2 <bdi>time</bdi>" in html
    assert "<s><bdi>during" not in html


def only_labels(n: int, glosses: tuple[str, ...] = ()) -> AnnotatedDocument:
    """Return a document of `n` labels, of which the last is given twice."""
    result = annotated("it is quite " * (n + 1))
    names = tuple(f"label {number:02}" for number in range(n))
    chosen = np.minimum(np.arange(n + 1), n - 1).astype(np.int32)
    first = result.decisions[1]
    given = dataclasses.replace(
        first,
        task="kind",
        table=(Group("kind", names, glosses=glosses),),
        observed=np.full(n + 1, -1, np.int32),
        chosen=chosen,
        offsets=np.arange(n + 2) * n,
        scores=np.zeros((n + 1) * n, np.float32),
        flagged=np.zeros(n + 1, bool),
    )
    return AnnotatedDocument(result.document, (given,))


def test_the_most_frequent_labels_are_listed_with_their_glosses():
    top = render_html(only_labels(25)).partition("<main>")[0]
    listed = re.findall(r"([0-9]+) <bdi>(label ..)</bdi>", top)
    assert listed == [("2", "label 24"), *(("1", f"label {number:02}") for number in range(9))]
    assert "and 15 more" in top
    top = render_html(only_labels(10)).partition("<main>")[0]
    assert len(re.findall("<bdi>label ..</bdi>", top)) == 10 and " more<" not in top
    html = render_html(only_labels(2, ("gloss%1:<b>::", "")))
    beside = "{} <small><bdi>gloss%1:&lt;b&gt;::</bdi></small>"
    top, _, rest = html.partition("<main>")
    assert beside.format("1 <bdi>label 00</bdi>") in top
    assert rest.count(beside.format("<b><bdi>label 00</bdi></b>")) == 1
    assert "<bdi>label 01</bdi></span>" in top and "<b><bdi>label 01</bdi></b></span>" in rest


def test_without_flags_decisions_are_counted():
    html = render_html(only_labels(3), only_labels(1), chunks=2)
    assert Page(html).title == "6 decisions in 2 documents"
    assert re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", html)[2:] == [
        ("decisions", "6"),
        ("decisions per 1,000 words", "333.3"),
    ]
    assert "12 words, 4 decisions</small>" in html and "6 words, 2 decisions</small>" in html
    assert "flag" not in html.partition("<main>")[2]
    assert "most words are correct" not in html and "probably wrong" not in html
    mixed = render_html(only_labels(3), annotated("quite so"))
    assert Page(mixed).title == "0 flags in 2 documents"
    assert parse_page(AnnotatedDocument(annotated("so").document, ())).title == "0 flags in 1 document"


def test_long_reports_show_only_paragraphs_with_flags(monkeypatch):
    monkeypatch.setattr(summary, "WHOLE", 100)
    results = [annotated(f"Nothing.\n\nNo\n\nA quite place {i}.\n\nEnd.", f"{i}.txt") for i in range(5)]
    html = render_html(*results[:2], annotated("nothing", "none.txt"), *results[2:])
    page = Page(html)
    assert [section["id"] for section in page.of("section")] == ["d1", "d2", "d4", "d5", "d6"]
    assert page.paragraphs[:3] == [
        "2 paragraphs without flags",
        "A quite place 0.",
        "1 paragraph without flags",
    ]
    assert "only paragraphs with flags are shown" in html
    assert "none.txt" not in html
    assert page.title == "5 flags in 6 documents"


def test_the_length_of_a_page_is_bounded(monkeypatch):
    monkeypatch.setattr(summary, "WHOLE", 100)
    monkeypatch.setattr(summary, "MAX_PAGE_CHARACTERS", 1500)
    results = [annotated(f"A quite place {'at' if i == 4 else i}, during 1997", f"{i}.txt") for i in range(6)]
    page = Page(html := render_html(*results))
    ids = [section["id"] for section in page.of("section")]
    assert 0 < len(ids) < 6
    assert ids == [f"d{i}" for i in range(1, len(ids) + 1)]
    assert f"no documents after number {len(ids)}" in html
    anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert all(link["href"] == "#" or link["href"][1:] in anchors for link in page.of("a"))
    assert page.title == "12 flags in 6 documents"


def test_paragraphs_without_flags_can_be_hidden_and_are_if_the_text_is_long(monkeypatch):
    results = [annotated("Nothing.\n\nA quite place."), annotated("nothing", "none.txt")]
    page = parse_page(*results)
    assert paragraphs(page, "class") == ["ok", None]
    assert page.of("input") == [{"type": "checkbox", "id": "only"}]
    assert [section["id"] for section in page.of("section")] == ["d1"]
    monkeypatch.setattr(summary, "LARGE", 20)
    assert page.of("input")[0] | {"checked": None} == parse_page(*results).of("input")[0]
    assert not parse_page(results[1]).of("input")
    assert parse_page(results[1]).paragraphs == ["nothing"]


def test_each_rule_has_its_colour_on_the_whole_page():
    names, results = ["article", "agreement", "word-form", "article", "agreement", "missing-word"], []
    for pair in zip(names[::2], names[1::2], strict=True):
        one = annotated("during 1997 in a quite place")
        parts = zip(one.decisions, pair, strict=True)
        decisions = tuple(dataclasses.replace(part, task=name) for part, name in parts)
        results.append(AnnotatedDocument(one.document, decisions))
    html = render_html(*results, chunks=3)
    colours = ["k0", "k1", "k2", "k0", "k1", "k3"]
    assert [mark["class"] for mark in Page(html).of("mark")] == [f"f {colour}" for colour in colours]
    keys = re.findall(r'<span class="f (k\d) key">([a-z-]+)</span></th>', html)
    assert {name: key for key, name in keys} == dict(zip(names, colours, strict=True))


def test_blank_lines_are_not_documents_and_missing_words_have_an_empty_mark():
    page = parse_page(annotated("a quite place", line=1, kind="line"), annotated(" ", line=2, kind="line"))
    assert page.title == "1 flag in 1 document"
    result = annotated("a quite place")
    gap = dataclasses.replace(result.decisions[1], starts=np.int32([2]), ends=np.int32([2]))
    page = parse_page(AnnotatedDocument(result.document, (gap,)))
    assert page.marks == [""]
    assert page.of("mark")[0]["class"] == "f k0 gap"
    assert page.paragraphs == ["a quite place"]


def linear(colour: str) -> np.ndarray:
    """Return a colour as linear RGB, shape (3,)."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
"""From linear sRGB to CIE XYZ; the second row gives the luminance."""


def luminance(colour: str) -> float:
    return float(XYZ[1] @ linear(colour))


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIE L*a*b* of linear RGB, in which distances correspond to perceived differences."""
    ratios = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(1)
    x, y, z = np.where(ratios > 216 / 24389, np.cbrt(ratios), (24389 / 27 * ratios + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


VISION = {
    "all colours": np.eye(3),
    "no red (protanopia)": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green (deuteranopia)": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue (tritanopia)": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""What linear RGB looks like to people without one kind of cone (Machado, Oliveira and Fernandes 2009)."""


def colour_schemes() -> list[dict[str, str]]:
    """Return the colours of the style sheet by name, in light and dark."""
    style = read_style(render_html(annotated(TEXT)))
    blocks = re.findall(r":root \{.*?\}", style, re.DOTALL)
    return [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in blocks]


RULES = [f"k{number}" for number in range(summary.COLOURS)]


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_of_rules_differ_enough(scheme, vision):
    colours = colour_schemes()[scheme]
    assert len(RULES) >= 7
    seen = {name: lab(VISION[vision] @ linear(colours[name])) for name in [*RULES, "ink"]}
    for one, other in combinations(seen, 2):
        # adjacent shades can be distinguished from a distance of 2.3
        assert np.linalg.norm(seen[one] - seen[other]) >= 20, (one, other)


def test_each_colour_has_a_class_and_can_be_read_in_light_and_dark():
    style = read_style(render_html(annotated(TEXT)))
    assert re.findall(r"\.(k\d) \{ --k: var\(--(k\d)\)", style) == [(name, name) for name in RULES]
    assert len(colour_schemes()) == 2
    for colours in colour_schemes():
        for front in ("ink", "soft", "link", *RULES):
            for back in ("paper", "card"):
                light, dark = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_for_temporary_files_is_a_one_line_error(monkeypatch):
    monkeypatch.setattr("disambig.formats.html.TemporaryFile", lambda: open("/dev/full", "w+b"))  # noqa: SIM115
    with pytest.raises(UserError, match=r"D309.*No space left"):
        render_html(annotated(TEXT * 999))
