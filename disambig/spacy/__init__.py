"""spaCy: one component for any task, the layout of annotations, how a plugin declares its factories.

No task and no language lives here; plugins name their components with `factory.component_factory`. The core's
own are those of no task: ``disambig``, for a model of one's own, and ``disambig_proofread``, which has all.
Importing this package sets ``span._.disambig``. spaCy does so itself as soon as a pipeline is made;
a program that only reads annotated Docs writes ``import disambig.spacy``.
"""

from disambig.spacy.annotations import read_decisions, write_annotations

__all__ = ["read_decisions", "write_annotations"]
