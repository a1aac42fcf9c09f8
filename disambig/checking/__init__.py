"""Checking texts like a linter: a run, flags at their places, corrections. No model is loaded here."""
