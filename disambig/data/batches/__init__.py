"""Candidate batches: storages of features, and from one to another. No learning here."""
