"""Words in context: how well any of some 60,000 words, or none, fits a place, from the words on both sides."""
