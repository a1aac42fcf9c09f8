"""What stands behind the name of a rule: the task that flags, in words."""

from __future__ import annotations

import inspect

HELP = (
    "The task {task!r} compares what may stand in a place by how well it fits the words around it, and here "
    "something else fits better than what was written. The number is how probable it is that this is meant; "
    "it may be wrong: read the sentence. To keep the words as they are, write "
    "<!-- disambig: ignore-next-line task:{task} --> above the line (in LaTeX behind %, in code in a "
    "comment), or add the word to `ignore` under [tool.disambig] in pyproject.toml."
)


def description(task: str) -> str:
    """Return what a task decides, in a sentence: the first of the docstring of the part that has its name."""
    from disambig import registry

    for factory in registry.everything("tasks").values():
        if getattr(factory, "name", None) == task:
            return (inspect.getdoc(factory) or "").partition("\n")[0]
    return f"The task {task!r} proposes other words."
