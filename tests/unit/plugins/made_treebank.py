"""A treebank of a few sentences of our own, for tests of the dependency parser."""

from __future__ import annotations

from functools import cache

from disambig_dependencies import train_parser

LINES = """
The/DT/2/det cat/NN/3/nsubj saw/VBD/0/root a/DT/5/det dog/NN/3/obj ././3/punct
A/DT/2/det dog/NN/3/nsubj slept/VBD/0/root ././3/punct
She/PRP/2/nsubj saw/VBD/0/root the/DT/4/det cat/NN/2/obj with/IN/7/case a/DT/7/det bell/NN/4/nmod ././2/punct
The/DT/2/det keys/NNS/8/nsubj of/IN/5/case the/DT/5/det house/NN/2/nmod are/VBP/8/cop very/RB/8/advmod old/JJ/0/root ././8/punct
Anna/NNP/4/nsubj and/CC/3/cc Peter/NNP/1/conj sleep/VBP/0/root ././4/punct
Where/WRB/0/root are/VBP/1/cop the/DT/4/det keys/NNS/1/nsubj ?/./1/punct
She/PRP/3/nsubj ca/MD/3/aux sleep/VB/0/root in/IN/6/case the/DT/6/det house/NN/3/obl ././3/punct
The/DT/2/det cat/NN/6/nsubj that/WDT/4/nsubj slept/VBD/2/acl:relcl is/VBZ/6/cop old/JJ/0/root ././6/punct
Sleep/VB/0/root !/./1/punct
Keys/NNS/0/root
"""  # noqa: E501


def sentences():
    made = []
    for line in LINES.strip().splitlines():
        rows = [token.rsplit("/", 3) for token in line.split()]
        words, tags, heads, relations = map(list, zip(*rows, strict=True))
        made.append((words, tags, [int(head) - 1 for head in heads], relations))
    return made


@cache
def parser(beam=1):
    return train_parser(sentences(), beam=beam, passes=20)
