"""DocBin, spaCy's own file of Docs."""
