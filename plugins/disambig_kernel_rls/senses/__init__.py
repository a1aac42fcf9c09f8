"""Senses of words: which tokens belong to which word, and what labelled examples say of words."""
