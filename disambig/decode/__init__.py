"""Decoders: from row scores to winning rows or their marginals. No features, no learning here."""
