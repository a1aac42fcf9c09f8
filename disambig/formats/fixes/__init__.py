"""Real mistakes with their corrections, and untouched text of the same writers, as JSON Lines."""
