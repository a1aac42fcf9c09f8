"""A Senseval lexical-sample file for the tests, with the irregularities of the real ones."""

from __future__ import annotations

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
