"""Corpus jobs: which documents go where, restarting, worker processes. No format and no model is made here."""
