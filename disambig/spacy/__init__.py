"""spaCy components: base classes, the layout of annotations, and factories for plugins.

This package is independent of tasks and languages: plugins declare their components with
`factory.component_factory`. The core has two components: ``disambig`` for any model, and
``disambig_proofread`` for all models that correct words. Importing this package defines
``span._.disambig``. spaCy imports it as soon as a pipeline is made; a program that only reads annotated Docs
needs ``import disambig.spacy``.
"""

from disambig.spacy.annotations import read_decisions, write_annotations

__all__ = ["read_decisions", "write_annotations"]
