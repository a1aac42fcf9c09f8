"""Words around a place: windows, sentences, learned associations."""
