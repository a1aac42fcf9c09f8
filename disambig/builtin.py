"""What the core itself lays on the shelves, through the same door as any plugin."""

from __future__ import annotations

from disambig.cli.names import COMMANDS, module_of
from disambig.hookspecs import Register, RegisterCommand, hookimpl


@hookimpl
def disambig_register_tokenisations(register: Register) -> None:
    """Register the tokenisations of the core."""
    register("disambig.headwords.v1", "disambig.features.headwords.asking:HeadwordNgrams")
    register("disambig.spacy_tokens.v1", "disambig.text.tokenisations.spacy_tokens:SpacyTokens")
    register("disambig.words.v1", "disambig.text.tokenisations.words:Words")
    register("web1t.v1", "disambig.text.tokenisations.web1t:Web1T")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    """Register the task whose candidates stand in the config."""
    register("disambig.Candidates.v1", "disambig.tasks.candidates:OwnCandidates")
    register("disambig.Lists.v1", "disambig.tasks.lists:Lists")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    """Register the extractors of the core."""
    register(
        "disambig.ContextProbabilities.v1",
        "disambig.features.counts.context_probabilities:ContextProbabilities",
    )
    register("disambig.ContextWindow.v1", "disambig.features.words.context_window:ContextWindow")
    register("disambig.ContextWords.v1", "disambig.features.words.context_words:ContextWords")
    register("disambig.GapOdds.v1", "disambig.features.gaps.extractor:GapOdds")
    register("disambig.HeadwordBigrams.v1", "disambig.features.lists.headword_bigrams:HeadwordBigrams")
    register("disambig.Headwords.v1", "disambig.features.headwords.extractor:Headwords")
    register("disambig.NgramCounts.v1", "disambig.features.counts.ngram_counts:NgramCounts")
    register("disambig.OneOf.v1", "disambig.features.one_of:OneOf")
    register("disambig.SentenceWords.v1", "disambig.features.words.sentence_words:SentenceWords")
    register("disambig.SourceFeatures.v1", "disambig.features.lists.source:SourceFeatures")
    register("disambig.Subsequences.v1", "disambig.features.strings.subsequences:Subsequences")
    register("disambig.TextNgrams.v1", "disambig.features.lists.text_ngrams:TextNgrams")
    register("disambig.Tfidf.v1", "disambig.features.tfidf.extractor:Tfidf")
    register("disambig.TokenContext.v1", "disambig.features.tokens.token_context:TokenContext")
    register("disambig.WordsInContext.v1", "disambig.features.cloze.extractor:WordsInContext")
    register("disambig.WordNetwork.v1", "disambig.features.network.word_network:WordNetwork")
    register("disambig.WordVectors.v1", "disambig.features.vectors.word_vectors:WordVectors")


@hookimpl
def disambig_register_decoders(register: Register) -> None:
    """Register the decoders of the core."""
    register("disambig.Chain.v1", "disambig.decode.chain:Chain")
    register("disambig.Enumerated.v1", "disambig.decode.enumerated:Enumerated")
    register("disambig.Hypergraph.v1", "disambig.decode.hypergraph:Hypergraph")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    """Register the learner that learns nothing: a baseline for tasks without one."""
    register("disambig.NoPreference.v1", "disambig.model.no_preference:NoPreference")


@hookimpl
def disambig_register_judges(register: Register) -> None:
    """Register the judges of the core."""
    register("disambig.BestOfList.v1", "disambig.judges.best_of_list:BestOfList")
    register("disambig.Corrections.v1", "disambig.judges.corrections:Corrections")
    register("disambig.Labels.v1", "disambig.judges.labels:Labels.unfitted")
    register("disambig.Mistakes.v1", "disambig.judges.mistakes.judge:Mistakes")


@hookimpl
def disambig_register_runners(register: Register) -> None:
    """Register the engine of this machine."""
    register("disambig.local.v1", "disambig.batch.engines:in_processes")


@hookimpl
def disambig_register_measures(register: Register) -> None:
    """Register the measures of the core."""
    register("disambig.AUC.v1", "disambig.measures.ranking:AUC")
    register("disambig.Accuracy.v1", "disambig.measures.choices:Accuracy")
    register("disambig.ErrorRate.v1", "disambig.measures.texts:ErrorRate")
    register("disambig.ExactMatch.v1", "disambig.measures.texts:ExactMatch")
    register("disambig.F1.v1", "disambig.measures.choices:F1")
    register("disambig.FirstCandidate.v1", "disambig.measures.baselines:FirstCandidate")
    register("disambig.MacroF1.v1", "disambig.measures.choices:MacroF1")
    register("disambig.MeanCost.v1", "disambig.measures.choices:MeanCost")
    register("disambig.Oracle.v1", "disambig.measures.baselines:Oracle")


@hookimpl
def disambig_register_readers(register: Register) -> None:
    """Register the readers of labelled examples of the core."""
    register("disambig.JsonLines.v1", "disambig.formats.labelled.json_lines:JsonLines")
    register("disambig.MarkedTables.v1", "disambig.formats.labelled.tables:MarkedTables")
    register("disambig.NoadMasc.v1", "disambig.formats.labelled.xml:NoadMasc")
    register("disambig.Senseval.v1", "disambig.formats.labelled.xml:Senseval")


@hookimpl
def disambig_register_commands(register: RegisterCommand) -> None:
    """Register the commands of the core, so that no plugin takes their names."""
    for name, summary in COMMANDS.items():
        register(f"disambig.{name.replace('-', '_')}.v1", f"{module_of(name)}:app", summary)
