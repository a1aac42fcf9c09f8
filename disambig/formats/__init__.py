"""Formats of corpora: documents in, decisions out. No model and no decision is made here."""
