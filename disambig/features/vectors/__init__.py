"""Word vectors as features: what the words around a place are like."""
