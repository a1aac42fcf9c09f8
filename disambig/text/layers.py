"""Layers of spaCy's tokens: tags, stems, lemmas, as columns beside the words.

Plain texts are tagged by an installed model; of Docs their own tags and lemmas are taken, whoever put them
there.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.text.hashing import hash_word, hash_words
from disambig.text.stems import content_words, stem_layer
from disambig.text.view import TokenView

if TYPE_CHECKING:
    from spacy.tokens import Doc

LAYERS = ("tag", "stem", "lemma")
Layers = dict[str, NDArray[np.generic]]


def check_layers(layers: Sequence[str]) -> None:
    """Refuse names of layers that there are not (D204)."""
    for name in [layers] if isinstance(layers, str) else layers:
        if isinstance(layers, str) or name not in LAYERS:
            raise UserError("D204", name=name, names=", ".join(LAYERS))


def layers_of_text(view: TokenView, wanted: Sequence[str], *, language: str, tagger: str) -> Layers:
    """Return the layers of a view of plain text: tags by the model `tagger`; lemmas there are none."""
    found: Layers = {}
    if "tag" in wanted:
        found["tag"] = _tags_by(tagger, view)
    if "stem" in wanted:
        found["stem"] = stem_layer(view, language)
    if "lemma" in wanted:
        _warn("lemma", "plain text has none: annotate Docs of a pipeline with a lemmatizer")
    return found


def layers_of_docs(
    view: TokenView, docs: Sequence[Doc], words: NDArray[np.bool_], wanted: Sequence[str], *, language: str
) -> Layers:
    """Return the layers of a view of Docs; one that no Doc has is left out, with a warning.

    Parameters
    ----------
    words : array of bool, shape (n_doc_tokens,)
        Which of the Docs' tokens, behind one another, are words of the view.
    """
    found: Layers = {}
    for name in wanted:
        if name == "stem":
            found[name] = stem_layer(view, language)
            continue
        attributes = [_attribute(doc, name) for doc in docs]
        if any(not attribute and len(doc) for attribute, doc in zip(attributes, docs, strict=True)):
            _warn(name, _ADVICE[name])
        if not any(attributes) and docs:
            continue
        values = [_values(doc, attribute) for doc, attribute in zip(docs, attributes, strict=True)]
        layer = np.zeros(len(view), np.uint64)
        layer[view.ends > view.starts] = np.concatenate([np.zeros(0, np.uint64), *values])[words]
        found[name] = np.where(content_words(view, language), layer, 0) if name == "lemma" else layer
    return found


_ADVICE = {
    "tag": "put a tagger before this component, such as disambig_tagger",
    "lemma": "put a lemmatizer before this component",
}


def _warn(name: str, advice: str) -> None:
    warnings.warn(f"no {name}s here: features that need them are left out; {advice}", stacklevel=5)


def _attribute(doc: Doc, name: str) -> str:
    """Return the attribute of tokens that a layer is made of, none where a Doc has none.

    Where there are no tags, the coarse ones of Universal Dependencies stand in for them.
    """
    possible = {"tag": ("TAG", "POS"), "lemma": ("LEMMA",)}[name]
    return next((attribute for attribute in possible if doc.has_annotation(attribute)), "")


def _values(doc: Doc, attribute: str) -> NDArray[np.uint64]:
    """Return the hash of each token's tag or lemma; 0 where it has none."""
    if not attribute:
        return np.zeros(len(doc), np.uint64)
    numbers, which = np.unique(doc.to_array([attribute]), return_inverse=True)
    strings = [doc.vocab.strings[number] if number else "" for number in numbers.tolist()]
    hashes = [hash_word(text.lower() if attribute == "LEMMA" else text) if text else 0 for text in strings]
    return np.array(hashes, np.uint64)[which.ravel()]


def _tags_by(name: str, view: TokenView) -> NDArray[np.uint64]:
    from disambig.model.loading import load

    model = load(name)
    instances, chosen = model.choose(view)
    tags = np.zeros(len(view), np.uint64)
    tags[instances.positions] = hash_words(list(model.task.groups[0].candidates))[chosen]
    return tags
