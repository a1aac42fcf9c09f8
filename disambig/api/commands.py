"""For `disambig` commands of plugins: reading lines, writing results, progress on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.cli.options import Quiet as Quiet
    from disambig.cli.output import (
        is_typed as is_typed,
        line_blocks as line_blocks,
        open_results as open_results,
        remark as remark,
        say as say,
        stages as stages,
    )
    from disambig.formats import lines_in as lines_in
    from disambig.hookspecs import RegisterCommand as RegisterCommand
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
