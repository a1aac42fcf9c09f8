"""The gate: whether a word is used as a preposition, told from the words around it."""
