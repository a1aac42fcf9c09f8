"""Instances, candidate batches and decisions: plain columns. No text rules, no learning here."""
