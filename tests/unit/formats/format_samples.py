"""Documents annotated by the fake models, and a Senseval file with the irregularities of real ones."""

from __future__ import annotations

from typing import Any

from fake_models import annotate_texts

from disambig.formats import AnnotatedDocument, Document, make_format


def annotated(text: str, name: str = "a.txt", *, id: str = "", **more) -> AnnotatedDocument:
    """Return a document with the decisions of the fake models."""
    return AnnotatedDocument(Document(id or name, text, name, **more), tuple(annotate_texts([text])))


def encode(format: Any, *results: AnnotatedDocument, chunks: int = 1, **options: Any) -> bytes:
    """Encode documents in a format, given by name or as an object, in some chunks."""
    if isinstance(format, str):
        format = make_format(format, **options)
    output: list[bytes] = []
    format.join([format.encode(list(results[i::chunks])) for i in range(chunks)], output.append)
    return b"".join(output)


HEADER = '<?xml version="1.0" encoding="iso-8859-1" ?>\n<corpus lang=\'english\'>\n'


def instance(name, context, senses=(), more=""):
    answers = "".join(f'<answer instance="{name}" senseid="{sense}"/>\n' for sense in senses)
    return f'<instance id="{name}"{more}>\n{answers}<context>\n{context}\n</context>\n</instance>\n'


def corpus(**words):
    """Return the XML of words (``bank_n=[...]``), each with its instances."""
    blocks = [
        f'<lexelt item="{word.replace("_", ".")}">\n{"".join(instances)}</lexelt>\n'
        for word, instances in words.items()
    ]
    return HEADER + "".join(blocks) + "</corpus>\n"


CORPUS = corpus(
    bank_n=[
        instance(
            "bank.n.1",
            "We sat on the\n  <head>bank</head>of the Rh\xf4ne.",
            ["shore%1"],
            ' docsrc="bnc_A1_7"',
        ),
        instance(
            "bank.n.2", "The &bquo;<head>Bank</head>&equo; &mdash; in &frac12; an hour.", ["P", "money%1"]
        ),
    ],
    call_v=[
        instance(
            "call.v.1",
            'They <sat id="c:0">did</sat> <head sats="c:1 c:0">call</head> him '
            '<sat id="c:1">up</sat> at 5 < 6 & AT&T.',
            ["call_up%2"],
        ),
        instance("call.v.2", "She <head>called</head> and <head>called</head>.", ["U"]),
    ],
)
