"""Register the entries of the core, through the same hooks as any plugin."""

from __future__ import annotations

from disambig.cli import COMMANDS, command_module
from disambig.hookspecs import Register, RegisterCommand, hookimpl


@hookimpl
def disambig_register_tokenisations(register: Register) -> None:
    """Register the tokenisations of the core."""
    register("disambig.headwords.v1", "disambig.features.heads:HeadwordTokenisation")
    register("disambig.spacy_tokens.v1", "disambig.text.spacy_tokens:SpacyTokens")
    register("disambig.words.v1", "disambig.text.tokenisations:Words")
    register("web1t.v1", "disambig.text.tokenisations:Web1T")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    """Register the tasks whose candidates are listed in the config or in n-best lists."""
    register("disambig.Candidates.v1", "disambig.tasks:OwnCandidates")
    register("disambig.Lists.v1", "disambig.tasks:Lists")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    """Register the extractors of the core."""
    register("disambig.ContextProbabilities.v1", "disambig.features.ngram_counts:ContextProbabilities")
    register("disambig.ContextWindow.v1", "disambig.features.context_window:ContextWindow")
    register("disambig.ContextWords.v1", "disambig.features.learned_words:ContextWords")
    register("disambig.GapOdds.v1", "disambig.features.gaps:MissingWordOdds")
    register("disambig.HeadwordBigrams.v1", "disambig.features.candidate_lists:HeadwordBigrams")
    register("disambig.Headwords.v1", "disambig.features.heads:Headwords")
    register("disambig.NgramCounts.v1", "disambig.features.ngram_counts:NgramCounts")
    register("disambig.OneOf.v1", "disambig.features.union:ExtractorChoice")
    register("disambig.SentenceWords.v1", "disambig.features.learned_words:SentenceWords")
    register("disambig.SourceFeatures.v1", "disambig.features.candidate_lists:SourceFeatures")
    register("disambig.Subsequences.v1", "disambig.features.context_window:Subsequences")
    register("disambig.TextNgrams.v1", "disambig.features.candidate_lists:TextNgrams")
    register("disambig.Tfidf.v1", "disambig.features.tfidf:Tfidf")
    register("disambig.TokenContext.v1", "disambig.features.token_context:TokenContext")
    register("disambig.WordsInContext.v1", "disambig.features.cloze:WordsInContext")
    register("disambig.WordNetwork.v1", "disambig.features.word_network:WordNetwork")
    register("disambig.WordVectors.v1", "disambig.features.word_vectors:WordVectors")


@hookimpl
def disambig_register_decoders(register: Register) -> None:
    """Register the decoders of the core."""
    register("disambig.Chain.v1", "disambig.decode.chain:Chain")
    register("disambig.Enumerated.v1", "disambig.decode.learning:Enumerated")
    register("disambig.Hypergraph.v1", "disambig.decode.hypergraph:Hypergraph")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    """Register the learner that learns nothing, the default baseline."""
    register("disambig.NoPreference.v1", "disambig.models.model:NoPreference")


@hookimpl
def disambig_register_judges(register: Register) -> None:
    """Register the decision rules of the core."""
    register("disambig.BestOfList.v1", "disambig.decision.labels:BestOfList")
    register("disambig.Corrections.v1", "disambig.decision.corrections:Corrections")
    register("disambig.Labels.v1", "disambig.decision.labels:Labels.unfitted")
    register("disambig.Mistakes.v1", "disambig.decision.mistakes:Mistakes")
    register("disambig.SecondLook.v1", "disambig.decision.second_look:SecondLook")


@hookimpl
def disambig_register_runners(register: Register) -> None:
    """Register the engine that runs jobs in local processes."""
    register("disambig.local.v1", "disambig.jobs.runners:in_processes")


@hookimpl
def disambig_register_measures(register: Register) -> None:
    """Register the measures of the core."""
    register("disambig.AUC.v1", "disambig.metrics.measures:AUC")
    register("disambig.Accuracy.v1", "disambig.metrics.measures:Accuracy")
    register("disambig.ErrorRate.v1", "disambig.metrics.measures:ErrorRate")
    register("disambig.ExactMatch.v1", "disambig.metrics.measures:ExactMatch")
    register("disambig.F1.v1", "disambig.metrics.measures:F1")
    register("disambig.FirstCandidate.v1", "disambig.metrics.measures:FirstCandidate")
    register("disambig.MacroF1.v1", "disambig.metrics.measures:MacroF1")
    register("disambig.MeanCost.v1", "disambig.metrics.measures:MeanCost")
    register("disambig.Oracle.v1", "disambig.metrics.measures:Oracle")


@hookimpl
def disambig_register_readers(register: Register) -> None:
    """Register the readers of labelled examples of the core."""
    register("disambig.JsonLines.v1", "disambig.formats.labelled:JsonLines")
    register("disambig.MarkedTables.v1", "disambig.formats.labelled:MarkedTables")
    register("disambig.NoadMasc.v1", "disambig.formats.senseval:NoadMasc")
    register("disambig.Senseval.v1", "disambig.formats.senseval:Senseval")


@hookimpl
def disambig_register_commands(register: RegisterCommand) -> None:
    """Register the commands of the core, so that no plugin can take their names."""
    for name, summary in COMMANDS.items():
        register(f"disambig.{name.replace('-', '_')}.v1", f"{command_module(name)}:app", summary)
