"""Formats of documents as plain text: HTML, DocBook, DITA, RST, notebooks, AsciiDoc, Org, POD, and others."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

import json
import re

import pytest
from commands import here
from hypothesis import given, settings, strategies as st
from offsets import read_with_offsets
from processor_time import grows_linearly, reads_in_linear_time

from disambig.markup import (
    BREAK,
    OPAQUE,
    begins_like_document,
    has_markup,
    path_format,
    plain_text,
    read_markup,
)

PATHS = [
    f"x.{suffix}"
    for suffix in (
        "html docbook dita xml rst adoc org man ipynb pod texi typ srt vtt eml mbox j2 md.tpl".split()
    )
]
PIECES = [
    *"aA1 .\n\r\t*_~`$[](){}<>|#>-+=&\\%!^:;'\"/é\u2029\ufeff\U0001f600\ud800",
    *(
        "\n\n", "\r\n", "    ", "  a", "- ", "1. ", "::", "``", "**", "__", "====\n", "----\n", "....\n",
        "|===\n",
    ),
    *(
        "<p>", "</p>", "<b>", "</b>", "<code>", "</code>", "<!--", "-->", "<script>", "</script>",
        "<a b='", "&amp;", "it&#39;s", "{{ ", " }}", "{% if ", "%}", "<%", "%>", "<?php", "?>", "<td>", "@if (",
    ),
    *("<section>", "<para>", "<!DOCTYPE a [", "]>", "<?a ", "?>", "<indexterm>", "<info>", "<title>"),
    "<xref href=''/>",
    *(
        ".. ", ".. note:: ", ".. a::\n", ".. _a:", ":a:`", "`_", "+--+--+\n", "| a | b |\n", "=== ===\n",
        "[1]_", ".. csv-table:: a\n\n  ", "   :alt: ", "   :header: ", ".. |a| replace:: ", ",", '"a b"',
    ),
    *(
        "[[a][", "]]", "#+begin_src\n", "#+end_src\n", ":a:\n", ":END:\n", "* ", "[fn:1]", "=a=",
        "https://a.b/c", "[fn::a]", "[fn:b:",
    ),
    *("@code{", "@footnote{", "@uref{a,", "@table @code\n", "@item ", "@end table\n", "@example\n", "@c ", "@'", "@@"),
    *("\\code{", "\\emph{", "\\item{a}{", "\\title{", "\\usage{", "%", "\\%"),
    *("=pod\n\n", "=item ", "=cut\n", "=begin a\n", "B<", "C<< ", " >>", "A::B", "L<a|"),
    *("[source]\n", "image::a[", "link:a[", "<<a,", ">>", "{a}", "//", "////\n", "a:: ", "NOTE: ", "+++"),
    *("00:01:02,000 --> 00:01:03,000\n", "1\n", "WEBVTT\n", "NOTE a\n", "- A B:", "{\\an8}", "<v A>"),
    *("Subject: Re: a\n", "Content-Type: multipart/mixed; boundary=a\n", "\n--a\n", "From a 2024\n", "> a\n", "=E2=80=99"),
    *("Content-Transfer-Encoding: quoted-printable\n", "=\n", "=?a?q?b?=", "it=27s", "a wrote:\n>"),
    *("footnote:[", "footnoteref:[a,", "image:a[", "alt=", ","),
    *(
        ".B ", ".SH NAME\n", ".TP\n", ".nf\n", ".fi\n", "\\fB", "\\fR", "\\-", "\\(em", '\\"',
        ".Bd -literal\n", ".It ",
    ),
]  # fmt: skip

TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
DOCBOOK = "http://docbook.org/ns/docbook"


def legible(path, text):
    """Return the plain text with runs of marks shortened: ``¶`` ends a sentence, ``#`` is hidden."""
    marks = {BREAK: "¶", OPAQUE: "#", "\ue000": "#", "\ue001": "#", "\x1f": " ", "\n": " "}
    return normalised(plain_text(path, text).translate(str.maketrans(marks)))


def normalised(words):
    """Return marked words without what does not matter: blanks beside marks, and runs of one mark."""
    words = re.sub("(?:\\s*¶)+\\s*", "¶", re.sub("#+", "#", " ".join(words.split())))
    return re.sub(" (?=[.,])", "", words.strip("¶ "))


@given(TEXT | st.text(max_size=60), st.sampled_from(PATHS))
@settings(max_examples=350, deadline=None)
def test_offsets_are_those_of_the_file(text, path):
    if path.endswith("ipynb"):
        text = json.dumps({"cells": [{"cell_type": "markdown", "source": text}]})
    read_with_offsets(path, text, decodes=True)


MARKS = {
    "x.html": [
        "<", "<a ", "<!--", "</", "<a b='", "<a b=\"'", "&", "<?", "<![", "<script>", "<a b=", "<p>",
        "<b>", "<a\n", "<pre>", "&amp;", "<![CDATA[", "<p lang=de>", "<script></scripta>", "a&amp;", "<a/",
        "{{ ", "{% ", "{% raw %} ", "<% ", "<?php ", "<td>", "<td>a", "@if (", "\n@if (", " ", "\\( ", "<a {{ ", "{# ",
    ],
    "x.docbook": [
        "<", "<!DOCTYPE a [", "<!", "<?", "<![CDATA[", "<info><title>", "<xref linkend='a'/>", "<xref", "&a;",
        "<indexterm>", "<para>", "<literal>",
    ],
    "x.xml": ["<!DOCTYPE a [", "<!-- -->", "<?a?>", " ", "<!", "<a", "<section>"],
    "x.Rd": ["\\code{", "\\emph{", "\\item{a}{", "{", "}", "{}", "\\eqn{a}", "\\name", "%", "\\href{a}{", "\\foo{a b", "\\foo{"],
    "x.texi": [
        "@a{", "@code{", "@code{a}", "}", "@footnote{", "@uref{a,", "@uref{a,,", "@example\n", "@table @code\n",
        "@item a\n", "@tab ", "@c a\n", "a @c ", "@menu\n", "* a: ", "* a::", "@'", "``", "@acronym{a,", "@end table\n",
    ],
    "x.pod": ["=a ", "\n\n=a ", "B<", ">", "C<< ", " >>", "a_", "a::", "->", "$a", "a@", "=begin a\n\n", "\n\n a"],
    "x.rst": [
        "*", "**", "``", "`", "|", "_", "\\", "[", "::\n", "- ", ".. ", "..\n", ".. x::\n", ":a:", "*a ",
        "``a ", ":a:`b ", "+--+\n", "+-+\n| |\n", "=== ===\n", "===\n", "a\n b\n", ".. _a:\n", "\\ a",
        "a `b <c", "a::\n\n b\n\n", ".. csv-table:: a\n\n  b,\"c\n", "  :alt: a\n", ".. |a| replace:: b\n",
    ],
    "x.adoc": [
        "*", "_", "`", "+", "#", "<<", "[[", "(((", "{a", "a:b[", "[", "----\n", "|===\n", "|", "a::\n",
        "=", "''", '"`a ', "*a ", "+a ", "////\n", "a:[", "http://a[", "link:a", "&#1", "-- ", "[a]",
        "a\n--\n", "footnote:[", "footnote:[a] ", "afootnoteref:[b,", "image:a[alt=\"", "image::a[b,alt=c]\n",
    ],
    "x.org": [
        "*", "/a ", "=a ", "[[", "[[a][", "<<", "#+begin_a\n", ":a:\n", "- ", "|", "\\a", "{{{", "$a ",
        "[fn:", "* a\n", "\\begin{a}\n", "@@", "src_a{", "<2020-01-01", "#+a:\n", "~", "- a :: ", "a *b ",
        "[fn::a ",
    ],
    "x.man": [
        "\\", ".B ", "\\f", ".\n", "\\fB", "\\fBa ", "\\(em", ".B a\n", "\\[", ".if \\{\n", ".de\n",
        ".TP\n", "'", "\\h'a", '.B "', "\\&", ".SH NAME\na - ",
    ],
    "x.ipynb": ['"', "\\", "{", "[", '"a" ', "\\u00e9"],
    "x.typ": [
        "#a[", "#let a = [", "#a(", "#{", "#let a\n", "#if a {", "/*", "`", "```", "$", "[", "]", "<a>", "@a", "#\"", "/ a",
        "= a\n", "#a(b: [", "#[", "//a", "\\u{1", "*", "_a", "#let a =\n\n\n",
    ],
    "x.srt": [
        "1\n00:00:01,000 --> 00:00:02,000\na\n\n", "00:00:01,000 --> 00:00:02,000\n", "1\n", "a ", "<", "{", "[", "\n",
        "00:00:01,000 --> 00:00:02,000\na <b>", "- ", "&#39;",
    ],
    "x.vtt": ["NOTE a\n", "NOTE a\n\n", "WEBVTT\n", "00:01.000 --> 00:02.000\nit&#39;s a\n\n", "00:01.000 --> a"],
    "x.eml": [
        "a: b\n", "a:", " a\n", "Content-Type: multipart/mixed; boundary=a\n\n--a\n", "--a\n", "=\n", "=E2=80=99", "> a\n", "a wrote:\n",
        "Content-Transfer-Encoding: quoted-printable\n\na=27s", "Subject: Re: a\n\n", "Subject: Re: ", "=?", "-- \n", "`", "boundary=",
    ],
    "x.mbox": ["From a 2024\nSubject: a\n\nb\n", "From a 2024\n", "From ", "\n"],
}  # fmt: skip


@pytest.mark.parametrize("size", [8_500, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("path", "mark"), [(path, mark) for path, marks in MARKS.items() for mark in marks])
def test_many_marks_take_linear_time(path, mark, size):
    assert reads_in_linear_time(path, mark, size)


def test_many_tags_of_different_names_take_linear_time():
    def read(size: int) -> None:
        read_markup("x.md", "".join(f"a {{{{< b{i} >}}}} c {{% d{i} %}} e\n" for i in range(size // 30)))

    assert grows_linearly(read, 100_000)


@pytest.mark.parametrize(
    ("path", "mark"),
    [("x.rst", "**"), *(("x.adoc", mark) for mark in "*_#'"), ("x.org", "*"), ("x.org", "/")],
)
def test_many_openings_with_one_end_take_linear_time(path, mark):
    assert grows_linearly(lambda size: read_markup(path, f"{mark}a " * size + f"a{mark}"), 4_500)


@pytest.mark.parametrize(
    "suffix", ".rst .REST .HTML .htm .xhtml .ipynb .adoc .asciidoc .asc .org .1 .9 .man .MDOC".split()
)
def test_suffixes_are_known_in_any_case(suffix):
    assert path_format(f"a{suffix}") is not None


READS = {
    "x.html": [
        ("<p>a <em>b</em> and <a href='x'>c</a>.", "a b and c."),
        ("<title>A page</title><style>p {}</style><script>if (a<b) x</script><p>b", "A page ¶ b"),
        ("<html><head><title>A page</title></head><body><h1>One</h1>Two<br>three", "A page ¶ One¶Two three"),
        ("a <code>b c</code> is <kbd>d</kbd>", "a # is #"),
        ("<p>a<p>b<ul><li>c<li>d</ul>e", "a¶b¶c¶d¶e"),
        ("a<pre>b\n\nc</pre>d", "a¶ d"),
        ("a &amp; b&nbsp;c &mdash; &ldquo;d&rdquo; &lt;e&gt;", "a & b c — “ d” < e>"),
        ("it&rsquo;s caf&eacute; un<b>able</b> x", "it\u2019s # # x"),
        ("a <!-- b --> c <?d?> e", "a c e"),
        ("a <span lang=de>b</span> c <span lang='en-GB'>d</span>", "a # c d"),
        ("<div lang='de'>a <b>b</b><p lang=en>c</div>d", "c¶d"),
        ("<p>a <span translate=no>b</span> c</p>", "a # c"),
        ("a <img src=x alt=\"b c\"> d <img src='y'> e", "a #b c# d # e"),
        ("<table><tr><td>a b<td>c</table>", "a b¶#"),
        ("<table><tr><th><b>a</b></th><td>&nbsp;b&nbsp;</td></tr><tr><td>c &amp; d</td></tr></table>e", "#¶¶ # ¶¶c & d¶e"),
        ("a {{ b }} c {{{d}}} {{#if e}}f{{else}}g{{/if}} {{#each h}}i{{/each}} {{! j }}{{k", "a # c # # ¶i¶ {{k"),
        ("{% block a %}b{% endblock %}c {% if d %}e{% endif %} {% url 'f' %} {# g #}h {% raw %}i{% endraw %}", "¶b¶c e # h ¶"),
        ('{% trans "a" %} {% trans %}b{% endtrans %} {% comment %}</p>{% endcomment %}c', "# b ¶c"),
        ("a {% trans 'b c d e' %} f {% translate \"g h\" as i %}j", "a #¶b c d e¶# f #j"),
        ("a <%= b %> c <% d > e %>f<%# g %> <?php $a->b(); ?>h <?= i ?> <?xml j?>k <% l", "a # c f h # k <% l"),
        ('<a href="{{ a("b") }}" {% if c > d %}e{% endif %}>f</a> <b {{ g }}>h</b>', "f h"),
        ("@if (a > b; as c) {\n<p>d</p>\n} @else {\n e\n @let a = b;\nf @if g", "¶ ¶d¶ ¶ e ¶ f @if g"),
        ("<script>{{ a </script>b }} c{% d", "¶b }} c{% d"),
        ("a \\(b = c\\) \\[d\\] \\(e <b>f</b>\\)", "a # # \\(e f \\)"),
        ("a <span class='b math c'>d</span> <div class=notranslate>e</div>f", "a # ¶ f"),
        ("a <span class='command'><strong>b c</strong></span> <span class=menuitem>d</span> e", "a # # e"),
        ("a <textarea>b <i>c</i></textarea> d", "a ¶ d"),
        ("a < b and c > d", "a < b and c > d"),
        ("<img alt='a b c' title='d e f g'><p title='h i j' class='a b c d'>k", "#a b c#¶d e f g¶#¶k"),
        ('a <a href="b" title="c d e f g">h</a> <a title="class of j.k a b c d">l</a>', "a #¶c d e f g¶#h l"),
        ("<head><meta name=description content='a b c d'><meta name=keywords content='e f g h'></head>i", "a b c d¶i"),
        ("<input type=submit value='a b c d'><input value='d e f g' placeholder='g h &eacute; i j'>", "#¶a b c d¶#¶g h # i j¶#"),
        ("<p lang=de title='a b c d'>d</p><p title='a {{ b }} c d e'>e", "a # c d e¶e"),
        ("<blockquote>a</blockquote>b <q>c</q>", "b #"),
        ("a<br>b <br/>\n c<br ><BR>d <code>e<br>f</code>", "a b c ¶d #"),
        ("<P CLASS='x y'>a</P><P>b</P>", "a¶ ¶b"),
        ("<p title='a > b'>c", "c"),
        ("<xhtml:p xml:lang='fr'>a</xhtml:p><p>b", "b"),
        ("<html lang='{{ page.lang }}'><p lang='&lang;'>a</p><p lang={% b %}>c", "a¶c"),
        ("a <p title='b", "a"),
        ("<a href='b'><b>A</b></a> &nbsp; <a>a</a> <a>I</a> <a>bc</a> d", "# a I bc d"),
        ('<ul><li class="src">f a a</li><li>b c</li></ul>', "b c"),
    ],
    "x.j2": [
        ("<p>a {{ b }} c{% if d %} e{% else %} f{% endif %} {# g #}h</p>{% for i in j %}k{% endfor %}", "a # c e¶ f# h¶ ¶k¶"),
        ("a{{ b }}c {{ d }}'s e{% if f %}s{% endif %} {% raw %}{{ g }}{% endraw %} h", "# #'s # ¶ h"),
        ("{% trans 'b c d e' %} {# {{ a }} #}f {{ '</p>' }} {{ g", "#¶b c d e¶# f # {{ g"),
        ("a {% schema %}{ b: 'c' }{% endschema %}d <a {% if e %}title='f g h i k'{% endif %}>j</a>", "a ¶d #¶f g h i k¶#j"),
    ],
    "y.j2": [("It is {{ b }}s `c`.\n> d\n-- \ne", "It is # #. ¶")],
    "x.hbs": [
        ("{{#if a}}b{{else}}c{{/if}} {{{d}}} {{!-- e }} f --}} {{! g }} {{#each h}}i{{/each}} {{> j}}", "# # ¶i¶"),
        ("a {{~!-- {{b}} --~}}c{{!-- d --}} e", "a c e"),
    ],
    "x.html.erb": [
        ("<p>a <%= b %> <% if c > d %>e<% } else { %> f <% end %> <%# g %></p><% each h do |i| %>j<% end %>", "a # e¶ f # ¶ ¶j"),
    ],
    "x.tmpl": [("{{if .A}}b {{else}} c{{end}} {{.D}} {{range .E}}f{{end}} {{/* g */}}{{template \"h\" .}}", "b ¶ c# # ¶f ¶")],
    "x.tpl": [("{if $a}b {else} c{/if} {$d|e} {* f *} {foreach $g as $h}i{/foreach} {j", "b ¶ c# # ¶i¶ {j")],
    "x.md.erb": [("## A <%= b %>\n\n* c <%# d %>`e`\n", "A #¶c #")],
    # a tag at the beginning of a line does not indent it
    "x.md.j2": [("a\n\n{% if b %}c d.{% endif %}\n\n    e\n\n- f\n\n  {% if g %}h{% endif %}", "a c d.¶f h")],
    "x.adoc.j2": [("a\n\n{% if b %}c d.{% endif %}\n\n e", "a c d.")],
    "x.pod.erb": [("=pod\n\na\n\n<% if b %>c d.<% end %>\n\n e", "a c d.")],
    "x.txt.j2": [("A {{ b }} `c`\n{# d #}\n> e", "A # # ¶")],
    "x.unknown.j2": [("<a> {{ b }}", "<a> #")],
    "x.xml.j2": [("{% if a %}<article><para>{{ b }} c</para></article>", "# c")],
    "x.json.j2": [('{{{ a }}"b": "c", "description": "{{ d }} e"}', "# e")],
    "x.dita": [
        ("<p>See <xref href='a.dita'/> or <xref href='b'>that page</xref>.</p>", "See # or that page."),
        ("<p>With <keyword keyref='product'></keyword> <ph id='x'/>it runs.</p>", "With # it runs."),
        ("<cmd>Click <uicontrol>Save as</uicontrol> in <filepath>a b</filepath>.</cmd>", "Click # in #."),
        ("<p>It<indexterm>a<indexterm>b</indexterm></indexterm> starts.</p>", "It starts."),
        ("<title>One</title><prolog><author>Jo</author></prolog><p>Two</p>", "One¶Two"),
        ("<topicmeta><navtitle>One</navtitle><keywords/></topicmeta>", "One"),
        ("<p>A <image href='a.png'/> key.</p><codeblock>x <b>y</b></codeblock>", "A # key."),
        ("<image href='a.png'><alt>A small cat</alt></image>", "#¶A small cat¶#"),
        ("<p>So.</p><draft-comment>Is it?</draft-comment><note>Yes.</note>", "So.¶Yes."),
        ("<p xml:lang='de-DE'>Nein</p><p translate='no'>no</p><p>yes</p>", "#¶yes"),
    ],
    "x.dbk": [
        ("<para>Run <command>ls -l</command>, see <xref linkend='a'/>.</para>", "Run #, see #."),
        ("<info><title>A book</title><author><surname>Doe</surname></author></info>", "A book"),
        (
            "<info><title>A</title><subtitle>b</subtitle><abstract><para>C</para></abstract></info>",
            "A¶b¶C",
        ),
        ("<bibliomixed><title>Not read</title></bibliomixed><para>Read</para>", "Read"),
        ("<programlisting><![CDATA[ x < 1 ]]></programlisting><para>One.</para>", "One."),
        ("<para>One <![CDATA[two & three]]> four<![CDATA[five]]>.</para>", "One two & three #."),
        ("<para>A<footnote><para>note</para></footnote> here</para>", "A¶note¶here"),
        ("<term><option>-x</option></term><listitem><para>An option.</para></listitem>", "#¶An option."),
        (
            "<para>The &product; manual, <remark>check this</remark>today<?dbfo x>?>.</para>",
            "The # manual, today.",
        ),
        ("<!DOCTYPE a [<!ENTITY b 'c > d'>\n<!-- ] -->]><para>One.</para>", "One."),
        (
            "<d:para xmlns:d='http://docbook.org/ns/docbook'>He said <d:quote>no</d:quote>.</d:para>",
            "He said #.",
        ),
    ],
    "x.dtx": [
        (
            "% \\section{A b}\n% c\n% d.\n%\n% e\n% \\begin{macrocode}\nf g\n% \\end{macrocode}\n%% h\n% i",
            "A b¶c d.¶e¶i",
        ),
    ],
    "x.page": [
        (
            "<page xmlns='http://projectmallard.org/1.0/'><info><desc>A <gui>B</gui></desc><credit><name>C</name></credit></info>"
            "<title>D</title><p>E <link xref='f'/> <em>g</em>.</p><screen>h</screen></page>",
            "A #¶D¶E # g.¶",
        ),
    ],
    "x.xml": [
        ("<legalnotice><para>One.</para></legalnotice>", "One."),
        ("<!DOCTYPE chapter SYSTEM 'own.dtd'>\n<!-- a -->\n<chapter><para>One.</para></chapter>", "One."),
    ],
    "x.pod": [
        ("a\n\n=head1 NAME\n\nA::B - the c of it\n\n=cut\n\nd\n\n=pod\n\ne", "#¶the c of it¶e"),
        ("=head2 The B<big> a\nb\n\nc\n\n  d\n  e\n\nf", "The big a¶b c¶ ¶f"),
        ("=pod\n\na C<b c> I<d C<e>> L<f g|A::B/c> L<A/b> F<h> aE<eacute>b E<lt> X<i>j", "a # d # f g # # # # j"),
        ("=pod\n\na C<< $b->c >> I<<< d e >>> f > g List<A> h", "a # d e f > g List<A> h"),
        ("=over 4\n\n=item * a b\n\n=item 2. c d\n\n=item e\n\n=item f($g)\n\n=item B<-h> I<i>\n\nj\n\n=back", "a b¶c d¶#¶#¶# j"),
        ("=pod\n\na $b->c(1) D::E f_g h() i@j.k http://l.m, %n 5 % 6", "a # # # # # #, # 5 % 6"),
        ("=begin html\n\na\n\n=head1 b\n\n=end html\n\nc\n\n=for html a\nb\n\nd\n\n=begin :a\n\ne\n\n=end :a", "c¶d¶e"),
        ("=encoding utf8\n\na\n\n=for comment b\nc\n\nd\n=cut\ne", "a¶ ¶d"),
    ],
    "x.texi": [
        ("\\input texinfo\n@settitle a\n@node b, c\n@chapter The @emph{d} e\n@cindex f\ng\n@cindex h\ni\n@bye\nj", "The d e¶g i¶"),
        ("a @code{b} @var{c}s @strong{d e} @@ @{ f@dots{} ``g h'' na@\"{i}ve caf@'e", 'a # # d e # # f# "g h" # #'),
        ("@ref{a,,b} @uref{c,d e} @uref{f,, g h} @email{i} @acronym{J, k l} @w{m}@: n@.", "# d e g h # J m n."),
        ("a@footnote{B @code{c} d.} e @foo{f} g @bar{h i j} k @anchor{l}m @c n\no", "a#¶B # d.¶#e # g h i j k m o"),
        ("@table @code\n@item a b\nc d\n@end table\n@table @asis\n@item e f\ng\n@itemx h\n@end table", "c d¶e f¶g¶#"),
        ("@itemize @bullet\n@item\na b\n@item c d\n@end itemize", "a b¶c d"),
        ("@multitable @columnfractions .5\n@headitem a @tab b c\n@item d e\n@tab f\n@end multitable", "#¶b c¶d e¶#"),
        ("@menu\n* a b:: c d\n* e: f. g h\n i j\n@end menu\n* k", "c d¶g h i j¶* k"),
        ("@deffn {a b} c d\ne\n@end deffn\n@example\nf\n@end example\n@quotation\ng\n@end quotation\n@quotation Note\nh\n@end quotation", "e¶ ¶ ¶h"),
        ("@example\na\n\n@foo{b c", "a¶b c"),
    ],
    "x.Rd": [
        ("% a\n\\name{b}\n\\title{The \\pkg{c} d}\n\\usage{e(f)}\n\\description{\ng 5\\% h\n% i\nj}", "The # d¶g 5 % h j"),
        ("\\details{a \\code{\\link[b]{c}}s \\emph{d e} \\eqn{f}{g} \\href{h}{i j} \\dots k \\foo{l} \\bar{mm nn}}", "a # d e # i j # k # mm nn"),
        ("\\arguments{\n\\item{a, b}{c d}\n  \\item{e}{f}\n}\n\\examples{\ng \\dontrun{h}\n}", "c d¶f"),
        ("\\value{\\itemize{\n\\item a\n\\item b}\n\\tabular{ll}{c \\tab d e \\cr}}\n\\section{F g}{H}", "a¶b¶c¶d e¶F g¶H"),
        ("\\note{a \\{ b \\code{c \n\n\\emph{d", "a { b #¶c #¶d"),
        ("#ifdef a\n\\note{b}\n#endif", "b"),
    ],
    "x.rst": [
        ("{% if a %}b c{% endif %} ``{{ d }}``", "b c #"),
        ("a {{ b }}", "a {{ b }}"),
        ("Title\n=====\n\ntext", "Title ¶ text"),
        ("=====\nTitle\n=====\n\ntext", "Title ¶ text"),
        ("a *b* **c** ``d e`` `f`_ and `g <h>`_ i_ |j| [1]_ k", "a b c # f and g i # k"),
        (":ref:`a b <c>` and :func:`d` and :term:`e f`", "a b and # and e f"),
        (":func:`a` has b:\n\n* :func:`c` or: d", "# has b: ¶ # or: d"),
        (":func:`a`: b\n\n:c `d`:e: f", "#: b ¶ f"),
        ("the ``list``\\ s and \\*a", "the # and *a"),
        ("a [b] _c _ d", "a [b] _c _ d"),
        ("so::\n\n  a b\n\n  c\n\nd", "so: ¶ ¶ d"),
        ("so:\n\n::\n\n  a b\n\nd", "so: ¶ d"),
        (".. note:: a\n   b\n\n   c\n\nd", "a b c d"),
        (".. code-block:: py\n   :linenos:\n\n   a\n\n   b\n\nc", "c"),
        (".. a comment\n   goes on\n\nc", "c"),
        (".. http:get:: /a\n\n   Return b.\n\n.. cpp:concept:: a\n\n   It is c.\n\n.. http:example:: curl\n\n   d", "Return b. ¶It is c. ¶"),
        (".. py:function:: f(a)\n   :x:\n\n   Return b.\n\n   :param a: c\n   :type a: d", "Return b. ¶c"),
        (".. versionadded:: 3.4 The b\n   c.", "The b c."),
        (".. figure:: a.png\n   :width: 1\n   :alt: b\n     c\n\n   d", "b c¶ d"),
        (".. unknown:: a\n\n   b\n\nc", "c"),
        (".. _a: http://b\n.. |c| replace:: d\n\ne", "d e"),
        ("- a\n- b\n  c\n\n  d::\n\n     e\n\n  f", "a¶b c d: ¶ f"),
        ("1. a\n#. b", "a¶b"),
        ("term\n   text", "term¶ text"),
        ("x : int\n   text", "text"),
        ("+---+---+\n| a | b |\n+===+===+\n| d | e |\n|   | f |\n+---+---+\n", "#¶ ¶#¶ ¶#¶ ¶e f"),
        ("+---+---+\n| a | b |\n| c | d |\n+---+---+\n", ""),
        ("=== ===\na   b c\n=== ===\nd   e\n    f\ng   h\n=== ===\n\ni", "#¶ ¶b c¶#¶ ¶e f¶#¶ ¶#¶ i"),
        (">>> a\nb\n\nc", "c"),
        ("-a, --all  b", "b"),
        (":Author: a\n:Note: b\n\nc", "b c"),
        ("| a\n| b", "a ¶ b"),
        (".. [1] a\n   b", "a b"),
        ("see http://a.b/c. Then", "see #. Then"),
        ("an |audio-decoder| is a |B|_, |c d|__ or (|e|),\nf |g-\nh|", "an # is a #, # or (#), f # #"),
        (".. |a| replace:: b\n   c\n.. |d| image:: e.png\n   :alt: f\n.. |g| date::\n\nh", "b c¶f¶ ¶ h"),
        (".. todo:: a\n   b\n\n   c\n\nd", "a b c d"),
        (".. image:: a.png\n   :alt: b\n   :width: 1\n\nc", "b¶ c"),
        (".. code-block:: py\n   :name: a\n   :caption: b\n     c\n\n   d\n\ne", "b c¶ ¶ e"),
        (".. toctree::\n   :caption: a\n   :glob:\n\n   b\n\nc", "a¶ ¶ c"),
        (".. literalinclude:: a.py\n   :Caption: b\n\nc", "b¶c"),
        (".. list-table:: A b\n   :widths: 1 2\n\n   * - c\n     - d\n   * - e\n", "A b¶c¶d¶e"),
        (".. csv-table:: A\n   b\n   :widths: 1 2\n   :header: c, \"d, e\"\n\n   f *g*, h\n   i\n\nj",
         "A b¶ ¶#¶d, e¶f g¶#¶# j"),
        ('.. csv-table::\n\n   "a, ""b"" c", "d\n\n   e"\n   ,- f, \n\ng', 'a, "b " c¶d e¶f¶g'),
        (".. csv-table::\n   :delim: ;\n\n   a; b, c\n", "#¶ b, c"),
        (".. csv-table::\n   :delim: tab\n\n   a\tb, c\n", "#¶b, c"),
        (".. csv-table:: a\n   :quote: '\n\n   b, c\n\nd", "a¶ ¶ d"),
        ('.. csv-table:: a\n\n   b, "c" d\n   e\n\nf', "a¶ #¶ f"),
        ('.. csv-table:: a\n\n   b, "c d\n   e\n\nf', "a¶ #¶ f"),
    ],
    "x.adoc": [
        ("a 'git pull' of it's users' b, 'c d e f g'", "a # of it's users' b, 'c d e f g'"),
        ("= A title\nA. Author <a@b>\n:toc:\n\n== B\ntext", "A title¶ ¶B¶text"),
        ("Title\n-----\ntext", "Title ¶text"),
        ("a \\*b* c", "a *b* c"),
        ("a *b* _c_ **d** `e f` +g+ #h# {i} j", "a b c d # # h # j"),
        ("[source,ruby]\n----\na\n\nb\n----\nc", "c"),
        ("....\na\n....\nb\n\n++++\nc\n++++\nd", "b ¶ ¶d"),
        ("====\na\n====\nb", "a ¶ b"),
        ("// a\nb\n\n////\nc\n////\nd", "b ¶ d"),
        ("NOTE: a b", "a b"),
        ("* a\n** b\n. c\n- [x] d", "a ¶b ¶c ¶d"),
        ("Some term:: a\n--all:: b", "Some term¶ a ¶b"),
        ("a\n\n  code b\n\nc", "a ¶ c"),
        ("|===\n|a |b c\n2+|d\n|===\ne", "# ¶b c¶ ¶# ¶ e"),
        ("see http://a.b[c d] and <<e,f g>> and <<h>> and link:i[j]", "see c d and f g and # and j"),
        ("image::a.png[b]\nc image:d[e] f linkgit:g[1] h", "b¶c # e# f # h"),
        (".A title\na", "A title¶a"),
        ("[source,ruby]\n.A title\n----\na\n----\nb", "A title¶ b"),
        ("[source]\n.A title\na\n\nb", "A title¶ ¶b"),
        ('"`a`" b footnote:[c d] e', "“ a” b # ¶c d¶#e"),
        ("a.footnote:[b *c*.] D", "a. ¶b c.¶ D"),
        ("an hourfootnote:d[b\nc] e", "an hour# ¶b c¶#e"),
        ("a footnote:d[] b footnoteref:[d] c", "a b c"),
        ("a footnoteref:[d,b, c] hour", "a # ¶b, c¶#hour"),
        ("a footnote:[see link:b[c].] d", "a # ¶see c.¶#d"),
        ("a footnote:[b", "a footnote:[b"),
        ('image::a[b c, 20, link="d"]', "b c"),
        ('image::a["b, c",20]\nd', "b, c¶ d"),
        ("image::a[20,width=30, alt=b c]\nd", "b c¶ d"),
        ("image::a[width=30]\nimage::b[]\nc", "c"),
        ('image::a[b c, title="d e f g"]\n\n[#g.h,title="i j k l"]\nm', "b c¶d e f g¶i j k l¶m"),
        ("= A\n:description: b c d\n:e: f g h\n\ni", "A¶ ¶b c d¶ ¶i"),
        ("video::a[b]\nc", "c"),
        ("a image:icon.png[b `c`, 20] d image:e[] f image:g[role=h] i", "a # b # d # f # i"),
        ("-----BEGIN PGP SIGNATURE-----\na b\n", ""),
        ("ifdef::a[]\nb\nendif::[]\nc", "b c"),
        ("ifdef::a[b c]\nifndef::a[]\nd", "b c¶ d"),
        ("a::\n\n\tb c\n\n    d\n\ne f::\n\n\n  g.", "a¶ b c ¶ e f¶ g."),
        ("* a\n+\n  b\n+\n[source]\nc\n+\nd", "¶a ¶ ¶ ¶ ¶ d"),
        ("a::\n+\n  b", "a¶ ¶"),
        ("a ((b c)) d (((e))) f ((g", "a b c d f ((g"),
        ("a b. +\nc", "a b. c"),
        ("|===\na|\n* b c\n* d e\n|===", "¶ ¶ ¶b c ¶d e ¶"),
    ],
    "x.org": [
        ("#+TITLE: A b\n#+OPTIONS: c\n* TODO [#A] D [1/2] :e:f:\ng", "A b¶ ¶ ¶D ¶g"),
        ("* CLI tools\na", "CLI tools¶a"),
        ("\ufeff* a b\nc", "\ufeff¶a b¶c"),
        ("a *b* /c d/ _e_ =f g= ~h~ +i+ j", "a b c d e # # # j"),
        ("a [[b][c d]] [[e]] https://f.g. [fn:1] h", "a c d # #. h"),
        (":PROPERTIES:\n:ID: a\n:END:\nb\n: c\n# d\ne", "b ¶ ¶ e"),
        ("#+BEGIN_SRC a\nb\n\n#+END_SRC\nc", "c"),
        ("#+begin_note\na\n#+end_note", "a"),
        ("#+begin_aside\na b\n#+end_aside\n#+begin_align*\nc\n#+end_align*\n#+begin_dot\nd\n#+end_dot\ne", "a b¶ ¶e"),
        (":NOTES:\na b\n:END:\n:LOGBOOK:\nc\n:END:\nd", "a b¶ ¶ d"),
        ("#+ATTR_HTML: :width 3 :alt a b c d :title d\ne", "a b c d¶e"),
        ("- a\n- [X] b\n- c :: d\n  e", "a ¶b ¶c¶ d e"),
        ("| a | b c |\n|---+---|\n| d e | f |", "# ¶ b c ¶ d e ¶ #"),
        ("SCHEDULED: <2020-01-01>\na <2020-01-01 Wed> b", "a # b"),
        ("[fn:1] a\n\nb \\alpha $c$ \\(d\\) e", "a b # # # e"),
        ("5 * 3 * 2 and a/b/c", "5 * 3 * 2 and a/b/c"),
        ("a <<b>> <<<c d>>> call_e[f](g) h <<<i", "a c d # h <<<i"),
        ("a[fn:: b /c/ [[d][e]]] f. g.[fn:h:i] j", "a#¶b c e¶#f. g.¶i¶ j"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "expected"), [(path, *row) for path, rows in READS.items() for row in rows]
)
def test_text_of_a_format(path, text, expected):
    assert legible(path, text) == normalised(expected)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        (f'<?xml version="1.0"?>\n<!-- a --><section xmlns="{DOCBOOK}"><para>One</para></section>', ""),
        (
            '<!DOCTYPE sect1 PUBLIC "-//OASIS//DTD DocBook V4.5//EN" [<!ENTITY a "b">]><sect1>One</sect1>',
            "",
        ),
        ("\ufeff<chapter id='a'><title>One</title><para/></chapter>", ""),
        ('<!DOCTYPE task PUBLIC "-//OASIS//DTD DITA Task//EN"><task><title>One</title></task>', ""),
        ('<topic xmlns:ditaarch="http://dita.oasis-open.org/"><title>One</title></topic>', ""),
        ('<project xmlns="http://maven.apache.org/POM/4.0.0"><name>One</name></project>', "project"),
        ('<article xmlns="http://jats.nlm.nih.gov"><para>One</para></article>', "article"),
        ("<book><author>One</author></book>", "book"),
        ("no tags", ""),
    ],
)
def test_xml_is_read_if_its_root_shows_what_it_is(text, root, tmp_path):
    path = tmp_path / "x.xml"
    path.write_text(text, encoding="utf8")
    plain = read_markup("x.xml", text)
    if "<" in text and not root:
        assert normalised(plain.text.replace("\x1f", " ").replace(BREAK, "¶").replace("\ufeff", "")) == "One"
        assert begins_like_document(str(path))
    else:
        assert (f"<{root}>" if root else "no root element") in plain.problem
        assert not begins_like_document(str(path))
        checked = here("check", path)
        assert checked.returncode == 2
        assert "[D340]" in checked.stderr


def test_folders_are_searched_for_documents_in_xml(tmp_path):
    (tmp_path / "pom.xml").write_text("<project><name>It was better then before.</name></project>")
    (tmp_path / "a.xml").write_text(
        '<sect1 xmlns="http://docbook.org/ns/docbook"><para>It was better then we had hoped.</para></sect1>'
    )
    checked = here("check", tmp_path)
    assert checked.stdout.count("then -> than") == 1
    assert "1 file by suffix (.xml 1)" in checked.stderr
    assert here("annotate", tmp_path, "--only-flags").stdout.count('"then"') >= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("= A b <c>\nd *e* _f_ $g$ @h-i.\n", "A b¶d e f # #."),
        ("#let a = [\n  b c\n]\n#set page(d: 2)\n#import \"e\": f\ng h", "b c¶ ¶ ¶ ¶g h"),
        ("#figure(image(\"a\"), caption: [B c]) <d>\ne", "#¶B c¶ e"),
        ("a#footnote[B c.] d. #footnote[E f.]", "a#¶B c.¶ d. ¶E f."),
        ("a #link(\"b\")[c d] #emph[e] #f #g.h(1) #\"i\"", "a c d e # # #"),
        ("#if a { [b c] } else [d e]\nf", "b c¶ ¶d e¶f"),
        ("a [b] c\\#d it's #strong[e #emph[f]] https://g.h//i. // j", "a [b] c #d it's e f #."),
        ("a /* b /* c */ d */ e `f` ```g\n#h\n``` i", "a e # ¶ i"),
        ("- a b\n+ c d\n2. e f\n/ G: h i", "a b¶c d¶e f¶G¶h i"),
        ("#quote[a b] #table([c d], [e f])\n#show: g => [h #g]", "#¶c d¶e f¶h #"),
        ("#{\n  let a = 1\n}\nb#[c d]e", "# #"),
        ("#sub[a b][c d] #box(e: [f g])[h i]", "a b c d ¶f g¶h i"),
    ],
)  # fmt: skip
def test_typst(text, expected):
    assert legible("x.typ", text) == normalised(expected)


CUES = """1
00:00:01,000 --> 00:00:04,000 X1:40
<i>We go to</i>
{\\an8}the end, and

2
00:00:04,500 --> 00:00:06,000
it&#39;s [music] so.
3
00:00:07,000 --> 00:00:09,000
- ANN: Of it.

4
00:00:10,000 --> 00:00:12,000
3 of them
"""
WEBVTT = """WEBVTT of it
Kind: of it

NOTE of it

STYLE
::cue { of: it }

of it
00:01.000 --> 00:04.000 position:10%
<v Ann>It is <00:01.500>the <c.of>end</c>&nbsp;of

00:05.000 --> 00:06.000
it
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("x.srt", CUES, "We go to the end, and it's so.¶Of it.¶3 of them"),
        ("x.vtt", WEBVTT, "It is the end of it"),
    ],
)
def test_sentences_of_subtitles_go_on_over_cues(path, text, expected, line_end):
    assert legible(path, text.replace("\n", line_end)) == expected


MAIL = """Received: of it
From: Of It <of@it.example>
Subject: Re: [of] It is
 the end =?utf-8?q?caf=C3=A9?=
Content-Type: multipart/alternative; boundary="b1"

of it
--b1
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

So it=E2=80=99s fi=
ne, and=
 caf=C3=A9.

On it, Of wrote:
> of it

--=20
Of it
--b1
Content-Type: text/html

<p>of it</p>
--b1--
"""
FOLDER = """From a@b Mon Jan 1 00:00:00 2024
Subject: First

One `of it`.

From a@b Mon Jan 1 00:00:00 2024
Content-Transfer-Encoding: base64

b2YgaXQ=

From a@b Mon Jan 1 00:00:00 2024
Subject: Third

Two.
-----Original Message-----
of it

From a@b Mon Jan 1 00:00:00 2024
Subject: [PATCH] Fourth

Four.
diff --git a/of b/of
+of it
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("x.eml", MAIL, "It is the end #¶So it\u2019s # #, and #."),
        ("x.mbox", FOLDER, "First¶One #.¶Third¶Two.¶Fourth¶Four."),
        ("x.eml", "Subject: A\n\nOf it.\n\n-- \nAnn\n", "A¶Of it."),
    ],
)
def test_words_of_the_writer_of_a_mail(path, text, expected, line_end):
    assert legible(path, text.replace("\n", line_end)) == expected


MAN = """.TH FOO 1 "2020"
.SH NAME
foo \\- a tool for b
.SH SYNOPSIS
.B foo
[\\-a] b
.SH "SEE ALSO"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The\n.B foo\ncommand is \\fIbig\\fR, see\n.BR bar (1),\nnow.", "The # command is #, see #, now."),
        (".B This is a whole sentence.\nb", "This is a whole sentence. b"),
        ("a \\fBnot to be used now\\fR \\(em well\\-known don\\(cqt", "a not to be used now — # don\u2019t"),
        (".TP\n.B \\-a\nb\n.IP c 4\nd", "b ¶ d"),
        (".nf\na\n.fi\nb", "b"),
        ("a\n  b\nc", "a ¶ c"),
        (".de XX\na\n..\nb\n.if n \\{\\\nc\n.\\}\nd", "b ¶ ¶ ¶ d"),
        ('a \\" b', "a"),
        ("with a\n.quoted x\nand a\n.hcode \u00e4 a\nb\n.nop c d\n.INDENT 0.0\ne", "with a # and a b c d e"),
        (".Bd -literal\na\n.Ed\n.It Fl a\nb\n.Nm foo\nc\n.Xr d 1 .\n.Em e f g h\n", "¶ ¶b # c # . e f g h"),
    ],
)  # fmt: skip
def test_manual_pages(text, expected):
    head = "NAME¶a tool for b¶SYNOPSIS¶SEE ALSO¶"
    assert legible("x.1", MAN + text) == normalised(head + expected)


REFERENCES = {
    "a.html": (("&#39;", "&apos;", "&#x27;", "&rsquo;", "&#8217;"), "<p>{}</p>"),
    "a.md": (("&#39;", "&rsquo;"), "* {}"),
    "a.adoc": (("&#39;", "&#8217;"), "{}"),
    "a.7": (("\\(aq", "\\(cq", "\\[aq]", "\\[u2019]"), ".TH A\n{}"),
    "a.cs": (("&apos;",), "/* {}\n*/ int x;"),
    "a.ipynb": (("&#39;",), '{{"cells": [{{"cell_type": "markdown", "source": ["\\u00e9t\\u00e9. {}"]}}]}}'),
}


@pytest.mark.parametrize("path", REFERENCES)
def test_references_to_apostrophes(path):
    references, frame = REFERENCES[path]
    for reference in references:
        text = frame.format(f"The dog wagged it{reference}s tail, and didn{reference}t care.")
        plain = read_markup(path, text)
        assert len(plain.text) == len(text)
        words = re.findall(r"\w+['\u2019]\w+", plain.text)
        assert [word.replace("\u2019", "'") for word in words] == ["it's", "didn't"]
        for word in words:
            start = plain.text.index(word)
            end = plain.file_offset(start + len(word))
            assert plain.file_offset(start) == start
            assert text[start:end] == reference.join(re.split("['\u2019]", word))
        assert plain.file_offset(plain.text.index(" care")) == text.index(" care")


@pytest.mark.parametrize(
    "metadata", [{"kernelspec": {"language": "python"}}, {"language_info": {"name": "python"}}, {}, 1]
)
def test_comments_in_code_cells_of_notebooks(metadata):
    sources = [
        '# Is a comment\nx = \'# b\'\ndef f():\n    """Is a docstring."""\n',
        "%%bash\n# c",
        "%%time\n# If it is",
    ]
    cells = [{"cell_type": "code", "source": source, "outputs": ["# d"]} for source in sources]
    words = legible("x.ipynb", json.dumps({"cells": cells, "metadata": metadata})).replace("\u00a0", " ")
    shown = [part.strip() for part in words.split("¶") if part.strip(" #")]
    assert shown == (["Is a comment", "Is a docstring.", "If it is"] if metadata and metadata != 1 else [])


def test_words_in_which_references_stay_hidden():
    hidden = "rock&#39;n&#39;roll a&#39;<b>b</b> <b>a</b>&#39;b caf&eacute; 9&#39;s".split(" ")
    for word in hidden:
        assert not read_markup("a.html", word).shortened, word
    assert legible("a.html", "rock&#39;n&#39;roll") == "#"


def test_a_numeric_suffix_is_not_always_that_of_a_manual_page():
    assert plain_text("log.1", ".gitignore has *a*\n") == ".gitignore has *a*\n"
    assert plain_text("a.1", ".TH A 1\n").isspace()


@pytest.mark.parametrize("suffix", [".1", ".3pm", ".n", ".nit", ".nib", ".nfo", ".other"])
def test_text_without_roff_is_plain_text_whatever_its_suffix(suffix):
    text = "Set `a_name` to 1. <!-- disambig: ignore -->\n.B is not read.\n"
    assert read_markup(f"x{suffix}", text) == read_markup("x.txt", text)
    assert OPAQUE in plain_text(f"x{suffix}", text)


@pytest.mark.parametrize("suffix", [".3pm", ".1ssl", ".3const", ".1p", ".n"])
def test_suffixes_of_manual_pages(suffix, tmp_path):
    page = tmp_path / f"a{suffix}"
    page.write_text(".TH A 1\n.nf\na\n", encoding="utf-8-sig")
    assert begins_like_document(str(page))
    assert "a" not in plain_text(page.name, page.read_text(encoding="utf-8"))[1:]


@pytest.mark.parametrize("suffix", [".1st", ".7z", ".3gp", ".10", ".0", ".nfo1"])
def test_suffixes_of_other_files(suffix, tmp_path):
    file = tmp_path / f"a{suffix}"
    file.write_text(".TH A 1\n", encoding="utf-8")
    assert not begins_like_document(str(file))
    assert not has_markup(file.name)


NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "source": ["of of\n"], "outputs": [{"data": {"text/markdown": ["the the"]}}]},
        {
            "cell_type": "markdown",
            "metadata": {"source": ["no no"]},
            "source": ["# A title\n", 'The *text* "is"\n', "fine caf\u00e9 it's.\n", "\n", "- `a` b"],
        },
        {"cell_type": "raw", "source": "no no"},
        {"cell_type": "markdown", "source": "One\ntwo.\n\nThree <!-- disambig: ignore x -->"},
    ],
    "metadata": {},
    "nbformat": 4,
}


@pytest.mark.parametrize(
    "options", [{"indent": 1}, {}, {"indent": 1, "ensure_ascii": False}, {"separators": (",", ":")}]
)
def test_notebooks(options):
    text = json.dumps(NOTEBOOK, **options)
    word = "#" if options.get("ensure_ascii", True) else "café"
    words = legible("x.ipynb", text).replace('" is"', '"is"')
    assert words == normalised(f'A title¶The text "is" fine {word} it\'s.¶# b¶One two.¶Three')
    ((start, end),) = read_markup("x.ipynb", text).comments
    assert text[start:end] == "<!-- disambig: ignore x -->"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', "[" * 100_000, '{"cells": [}'])
def test_invalid_notebooks_are_reported(text):
    plain = read_markup("x.ipynb", text)
    assert plain.problem and not plain.text.strip("\x1f \n")


WRITTEN = {  # a text, and how a comment is written in it
    "a.rst": (
        "Title\n=====\n\n*That* is the the end of ``the the``.\n\n.. the the\n\n{}It is the the end.\n",
        ".. {}\n\n",
    ),
    "b.HTML": (
        "<p class='the the'><b>That</b> is the the end.</p>\n{}<p>It is the the end.</p>\n",
        "<!-- {} -->\n",
    ),
    "c.adoc": (
        "= Title\n\n*That* is the the end.\n\n----\nthe the\n----\n\n{}It is the the end.\n",
        "// {}\n",
    ),
    "d.org": ("* Title\n/That/ is the the end of =the the= road.\n\n{}It is the the end.\n", "# {}\n"),
    "e.7": (
        ".SH TITLE\n\\fIThat\\fR is the the end.\n.nf\nthe the\n.fi\n{}It is the the end.\n",
        '.\\" {}\n',
    ),
    "g.pod": (
        "=head1 Title\n\nB<That> is the the end of C<the the>.\n\n  the the\n\n{}It is the the end.\n",
        "=for comment {}\n\n",
    ),
    "i.Rd": (
        "\\title{{It}}\n\\details{{\n\\emph{{That}} is the the end.\n{}It is the the end.\n}}\n\\usage{{the the}}\n",
        "% {}\n",
    ),
    "h.texi": (
        "@chapter Title\n\n@emph{{That}} is the the end.\n@example\nthe the\n@end example\n{}It is the the end.\n",
        "@c {}\n",
    ),
}


def test_check_corrects_each_format_and_obeys_its_comments(tmp_path):
    texts = {}
    for name, (text, comment) in WRITTEN.items():
        texts[name] = text.format(comment.format("disambig: ignore-next-line"))
        (tmp_path / name).write_text(texts[name], newline="")
    cells = [
        {"cell_type": "code", "source": ["the the\n"]},
        {"cell_type": "markdown", "source": ['It is *"\u00e9t\u00e9"*\n', "and the the end.\n"]},
    ]
    notebook = json.dumps({"cells": cells}, indent=1)
    (tmp_path / "f.ipynb").write_text(notebook, newline="")
    done = here("check", "--fix", "--no-backup", folder=tmp_path)
    assert done.returncode == 1 and "D960" not in done.stderr, done.stdout + done.stderr
    for name, text in texts.items():
        assert (tmp_path / name).read_bytes().decode() == text.replace(" is the the end", " is the end", 1), (
            name
        )
    assert (tmp_path / "f.ipynb").read_bytes().decode() == notebook.replace("and the the", "and the")


def test_a_broken_notebook_is_one_line(tmp_path):
    (tmp_path / "a.ipynb").write_text('{"cells": [}')
    (tmp_path / "b.txt").write_text("All is well.\n")
    for command in ("check", "annotate"):
        done = here(command, "a.ipynb", "b.txt", folder=tmp_path)
        (line,) = [line for line in done.stderr.splitlines() if "a.ipynb" in line]
        problem = "line 1, column 12: Expecting value"
        assert line == f"disambig: [D344] a.ipynb is not a valid Jupyter notebook: {problem}"
        assert done.returncode == 2, done.stderr


def test_quoted_lines_and_signatures_of_texts_are_left_out():
    mail = "Hi,\n\nof it.\n\nAnn wrote:\n> it is\n>> of it\nof the\n\n-- \nAnn Lee\nof the end\n"
    for text in (mail, mail.replace("\n", "\r\n")):
        assert legible("x.txt", text) == "Hi, of it. Ann wrote:¶of the"
    text = "of it\n-- \n" + "of the end\n" * 20  # too long for a signature
    assert "end" in legible("x.txt", text)
    assert plain_text("x.txt", "a > b\n--\nof it\n") == "a > b\n--\nof it\n"
    assert legible("x.txt", "News\n  o Fix of it\no\tof o") == "News¶Fix of it¶of o"


@pytest.mark.parametrize("name", [".git/COMMIT_EDITMSG", "MERGE_MSG", "x.gitcommit"])
def test_commit_messages_without_the_lines_of_git(name):
    message = (
        "of it\n\nIn the `words` of it.\n\nFixes: the end\nSigned-off-by: Ann Of <of@the.example>\n"
        "# of the branch\n# disambig: ignore-file\n# -------- >8 --------\nof the\n+the the\n"
    )
    assert legible(name, message) == "of it In the # of it."
    comments = read_markup(name, message).comments
    assert [message[start:end] for start, end in comments][:2] == [
        "# of the branch",
        "# disambig: ignore-file",
    ]
    assert plain_text(name, "In the end of it: #1") == "In the end of it: #1"
