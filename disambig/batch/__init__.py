"""Corpus jobs: what goes where, restarting, worker processes. No format and no model is made here."""
