"""What the core itself lays on the shelves, through the same door as any plugin."""

from __future__ import annotations

from disambig.hookspecs import Register, hookimpl


@hookimpl
def disambig_register_tokenisations(register: Register) -> None:
    """Register the tokenisations of the core."""
    from disambig.text.spacy_tokens import SpacyTokens
    from disambig.text.web1t import Web1T
    from disambig.text.words import Words

    register(SpacyTokens.registered, SpacyTokens)
    register(Words.name, Words)
    register(Web1T.name, Web1T)


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    """Register the task whose candidates stand in the config."""
    from disambig.tasks.candidates import OwnCandidates

    register("disambig.Candidates.v1", OwnCandidates)


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    """Register the extractors of the core."""
    from disambig.features.context_probabilities import ContextProbabilities
    from disambig.features.context_window import ContextWindow
    from disambig.features.context_words import ContextWords
    from disambig.features.ngram_counts import NgramCounts
    from disambig.features.sentence_words import SentenceWords
    from disambig.features.subsequences import Subsequences
    from disambig.features.tfidf import Tfidf
    from disambig.features.token_context import TokenContext
    from disambig.features.word_network import WordNetwork

    register("disambig.ContextProbabilities.v1", ContextProbabilities)
    register("disambig.ContextWindow.v1", ContextWindow)
    register("disambig.ContextWords.v1", ContextWords)
    register("disambig.NgramCounts.v1", NgramCounts)
    register("disambig.SentenceWords.v1", SentenceWords)
    register("disambig.Subsequences.v1", Subsequences)
    register("disambig.Tfidf.v1", Tfidf)
    register("disambig.TokenContext.v1", TokenContext)
    register("disambig.WordNetwork.v1", WordNetwork)


@hookimpl
def disambig_register_learners(register: Register) -> None:
    """Register the learner that learns nothing: a baseline for tasks without one."""
    from disambig.model.no_preference import NoPreference

    register("disambig.NoPreference.v1", NoPreference)
