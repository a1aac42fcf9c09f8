"""Reranking of parses: lists of candidate trees, and the features that tell them apart."""
