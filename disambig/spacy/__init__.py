"""spaCy: one component for any task, the layout of annotations, how a plugin declares its factories.

No task and no language lives here; plugins name their components with `factory.component_factory`.
"""
