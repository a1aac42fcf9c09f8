"""A text that is being edited: checked again after each change, decided again only where it changed."""
