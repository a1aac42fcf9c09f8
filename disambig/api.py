"""What plugins import, and the only module they import from. Names load on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Arrays": "disambig.types",
    "CONTEXTS": "disambig.features.contexts",
    "CandidateBatch": "disambig.types",
    "Chain": "disambig.decode.chain",
    "Claim": "disambig.experiments.protocol",
    "Columns": "disambig.data.columns",
    "CrossedRows": "disambig.data.sparse",
    "Decisions": "disambig.data.decisions",
    "Decoder": "disambig.types",
    "DenseBlocks": "disambig.data.dense",
    "Draw": "disambig.experiments.learning",
    "Enumerated": "disambig.decode.enumerated",
    "ExperimentResult": "disambig.experiments.protocol:Result",
    "FeatureExtractor": "disambig.types",
    "Features": "disambig.types",
    "Finder": "disambig.data.finding",
    "Fitted": "disambig.types",
    "GAP_HASH": "disambig.text.hashing",
    "Ground": "disambig.evaluation.side_by_side",
    "Group": "disambig.data.groups",
    "Instances": "disambig.data.instances",
    "Judged": "disambig.evaluation.side_by_side",
    "Labelled": "disambig.corpora.labelled",
    "Learned": "disambig.training.learned",
    "Learner": "disambig.types",
    "LinearScorer": "disambig.model.linear",
    "Model": "disambig.model.model",
    "NGRAM_PLACES": "disambig.text.hashing:PLACES",
    "NgramCounts": "disambig.features.ngram_counts",
    "ORDER_STEP": "disambig.text.hash_kernels",
    "Outcomes": "disambig.experiments.learning",
    "Panel": "disambig.experiments.protocol",
    "Progress": "disambig.experiments.protocol",
    "Row": "disambig.experiments.protocol",
    "Scorer": "disambig.types",
    "SequenceRows": "disambig.data.sequences",
    "SpacyTokens": "disambig.text.spacy_tokens",
    "SparseRows": "disambig.data.sparse",
    "System": "disambig.experiments.learning",
    "Task": "disambig.types",
    "TokenContext": "disambig.features.token_context",
    "TokenView": "disambig.text.view",
    "Tokenisation": "disambig.text.view",
    "Universal": "disambig.spacy.tokens",
    "UserError": "disambig.errors",
    "Words": "disambig.text.words",
    "annotate": "disambig.model.annotate",
    "batches": "disambig.counts.build",
    "best_path": "disambig.decode.chain_kernels",
    "cached": "disambig.experiments.cache",
    "chi_squared": "disambig.evaluation.significance",
    "columns_of": "disambig.features.ngram_counts",
    "compiled": "disambig.compiling",
    "component_factory": "disambig.spacy.factory",
    "confusion_set": "disambig.corpora.confusion_sets",
    "context_room": "disambig.features.contexts:room",
    "convert": "disambig.data.conversions",
    "counts_around": "disambig.experiments.paragraphs",
    "document_factory": "disambig.spacy.documents",
    "fit_labels": "disambig.model.labels:fit",
    "flag_limits": "disambig.evaluation.side_by_side:limits",
    "flagged": "disambig.evaluation.side_by_side",
    "fmix64": "disambig.text.hash_kernels",
    "hash_word": "disambig.text.hashing",
    "hash_words": "disambig.text.hashing",
    "hits_of": "disambig.experiments.learning",
    "hookimpl": "disambig.hookspecs",
    "joined": "disambig.experiments.learning",
    "judge": "disambig.evaluation.side_by_side",
    "label_model": "disambig.training.labelled",
    "learn_all": "disambig.experiments.learning",
    "load_model": "disambig.model.packs:load",
    "mark": "disambig.training.marking",
    "max_marginals": "disambig.decode.chain_kernels",
    "mcnemar": "disambig.evaluation.significance",
    "nearest_first": "disambig.errors",
    "open_table": "disambig.counts.locate",
    "paragraphs": "disambig.experiments.paragraphs",
    "read_confusion_sets": "disambig.corpora.confusion_sets",
    "resolve": "disambig.config",
    "segments": "disambig.data.segments",
    "split": "disambig.training.splits",
    "text_lines": "disambig.experiments.paragraphs",
    "token_extension": "disambig.spacy.annotations",
    "token_factory": "disambig.spacy.tokens",
    "train": "disambig.training.trainer",
    "use_numba": "disambig.engine",
    "view_of_texts": "disambig.text.documents",
    "wilcoxon": "disambig.evaluation.significance",
    "with_left_out": "disambig.experiments.left_out",
    "word_tokens": "disambig.data.finding",
    "write_table": "disambig.counts.write",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, other_name = _HOME[name].partition(":")
    module = import_module(home)
    return module if name == "segments" else getattr(module, other_name or name)


def __dir__() -> list[str]:
    return __all__
