"""The head words of prepositions: what kind of word each English word mostly is."""
