"""N-best lists as JSON Lines: what some other program proposed for an item, with scores and features."""
