"""Senseval's English lexical sample: instances, keys, sense maps."""
