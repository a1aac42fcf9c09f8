"""Words in context: how well any word of a vocabulary, or none, fits a place, by the words on both sides."""
