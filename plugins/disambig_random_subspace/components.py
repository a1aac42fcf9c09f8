"""The spaCy components of this plugin's tasks (loaded by spaCy alone, through its entry points)."""

from __future__ import annotations
