"""Folders that are whole or not there: written as a draft, which takes the place of what stood there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from disambig.files.drafts import Drafts, draft_folder
from disambig.files.saving import followed, writing
from disambig.files.swapping import put, restore


@contextmanager
def saved_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to write into; it stands under `path` only if all went well.

    What stood there before stands until then, and is removed. Links are followed, folders above are made.
    That nothing can be written there is said at once, before anything is written.

    Raises
    ------
    UserError
        D309 where it cannot be made, or cannot get its name; no draft stays behind.
    """
    with ExitStack() as last:
        with writing(path):
            target = followed(path)
            restore(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = last.enter_context(draft_folder(Drafts.beside(target)))
        yield draft
        with writing(path):
            put(draft, target)
