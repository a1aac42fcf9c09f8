"""The component of this plugin; spaCy is imported only here."""
