"""Made files in the forms of Senseval's lexical sample and of NOAD-MASC: few words, sentences made up."""

from __future__ import annotations

import io
import tarfile
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from disambig_kernel_rls.experiments import KINDS

SENSES = {
    "bank.n": {
        "bank%1": ("money", "loan", "interest", "branch", "credit"),
        "bank%2": ("river", "mud", "boat", "fish", "reed"),
    },
    "play.v": {
        "play%1": ("piano", "violin", "tune", "concert", "band"),
        "play%2": ("goal", "team", "match", "league", "ball"),
    },
    "cool.a": {
        "cool%1": ("shade", "water", "wind", "autumn", "cellar"),
        "cool%2": ("jacket", "song", "movie", "party", "haircut"),
    },
}
FILLERS = ("the old man", "a young woman", "my neighbour", "that clerk", "one visitor")


def sentence(rng, word, cues, head="{}"):
    """Return a sentence in which a word stands among cues of its sense."""
    first, second, third = (str(rng.choice(cues)) for _ in range(3))
    who = str(rng.choice(FILLERS))
    name = head.format(word.partition(".")[0])
    return f"Here {who} spoke of the {first} . Then the {second} {name} {third} was there & so on ."


def instances(part, n, *, words=SENSES, rare=True):
    """Return (word, id, senses, context) of each instance; the second sense is the rarer one."""
    rng = np.random.default_rng(len(part))
    found = []
    for word in words:
        (one, two), name = words[word].items(), word.partition(".")[0]
        for k in range(n):
            sense, cues = two if k % 3 == 2 else one
            senses = (sense, "U") if rare and k == 0 else (sense,)
            found.append((word, f"{name}.{part}{k}", senses, sentence(rng, word, cues, "<head>{}</head>")))
    return found


def write_senseval(home, edition, *, n_train=12, n_test=6, words=SENSES, sensemap=True):
    """Write an edition's files below `home`."""
    folder = home / edition.folder
    folder.mkdir(parents=True, exist_ok=True)
    parts = {edition.train: instances("train", n_train, words=words)}
    parts[edition.test] = instances("test", n_test, words=words)
    for name, found in parts.items():
        lines = ['<?xml version="1.0" encoding="iso-8859-1" ?>', "<corpus lang='english'>"]
        for word in words:
            lines.append(f'<lexelt item="{word}">')
            for of, number, senses, context in found:
                if of == word:
                    lines.append(f'<instance id="{number}" docsrc="made">')
                    if name == edition.train:
                        lines += [f'<answer instance="{number}" senseid="{each}"/>' for each in senses]
                    lines += ["<context>", context, "</context>", "</instance>"]
            lines.append("</lexelt>")
        (folder / name).write_text("\n".join([*lines, "</corpus>"]), encoding="iso-8859-1")
    key = [f"{word.partition('.')[0]} {n} {' '.join(s)}" for word, n, s, _ in parts[edition.test]]
    (folder / edition.key).write_text("\n".join(key) + "\n", encoding="iso-8859-1")
    if sensemap:
        groups = "".join(f"{one} {two}\n" for one, two in (tuple(each) for each in words.values()))
        (folder / edition.sensemap).write_text(groups, encoding="iso-8859-1")
    return folder


def write_noad(path, *, documents=4, each=12):
    """Write a small NOAD-MASC: each kind's first two genres, with words in two senses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    with tarfile.open(path, "w:xz") as archive:
        for genres in KINDS.values():
            for genre in genres[:2]:
                for number in range(documents):
                    name = f"written/{genre}/made{number}"
                    data = _document(rng, name, each).encode()
                    member = tarfile.TarInfo(f"masc/{name}.xml")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))


def _document(rng, name, each):
    words = []
    for word, senses in SENSES.items():
        for k in range(each):
            sense, cues = list(senses.items())[int(k % 3 == 2)]
            lemma, pos = word.partition(".")[0], {"n": "NOUN", "v": "VERB", "a": "ADJ"}[word[-1]]
            for token in sentence(rng, word, cues).split():
                said = f' lemma="{lemma}" pos="{pos}" sense="/d/{sense}"' if token == lemma else ""
                words.append(f'<word text={quoteattr(token)}{said} break_level="SPACE_BREAK"/>')
    return f'<SimpleWsdDoc name="/{escape(name)}.txt">\n' + "\n".join(words) + "\n</SimpleWsdDoc>\n"
