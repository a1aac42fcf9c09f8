"""Experiments that plugins bring: what one is, how its result is told, and what several of them share."""
