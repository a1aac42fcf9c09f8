"""What a word is: the tokenisations of the core."""
