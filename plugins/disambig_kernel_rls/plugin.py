"""What this plugin brings; nothing heavy is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Register = Callable[[str, Callable[..., Any]], None]
