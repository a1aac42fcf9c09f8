"""The judge that learned from mistakes: how probable it is that another word was meant, and which."""
