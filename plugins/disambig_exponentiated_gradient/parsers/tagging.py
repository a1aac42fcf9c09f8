"""Tags of words to parse by, from a model that labels tokens, such as the one of `disambig_tagger`.

Text that is unlike the treebank is parsed better by such tags, text that is like it worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from disambig.api import Model, UserError, load_model
from disambig.api.text import SpacyTokens

from .sentences import Sentence


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """Gives sentences tags.

    Attributes
    ----------
    model : Model
        Of a task that labels every token of `disambig.spacy_tokens.v1`.
    """

    model: Model

    @classmethod
    def load(cls, name: str) -> Tagger:
        """Return the tagger of a task such as ``"tag"``, of ``"PACK/TASK"`` or of a folder.

        Raises
        ------
        UserError
            D404 for a model that there is not, D909 for one that does not label tokens.
        """
        model = load_model(name)
        decides = getattr(model.task, "decides", None)
        if getattr(decides, "where", "") != "tokens" or not isinstance(model.tokenisation, SpacyTokens):
            raise UserError("D909", name=name, task=model.task.name)
        return cls(model)

    def __call__(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with the tags of their words; those that have some keep them."""
        some = [i for i, sentence in enumerate(sentences) if sentence.tags is None and sentence.words]
        found = list(sentences)
        if not some:
            return found
        view = SpacyTokens(self.model.language).of_sentences([sentences[i].written for i in some])
        labels = self.model.task.groups[0].candidates
        chosen = iter(self.model.choose(view)[1].tolist())
        for i in some:
            found[i] = replace(found[i], tags=tuple(labels[next(chosen)] for _ in found[i].words))
        return found
