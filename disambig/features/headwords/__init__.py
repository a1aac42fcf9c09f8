"""Head words: the word that governs a place, the verb beyond it, and the word that the place governs."""
