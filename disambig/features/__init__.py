"""Feature extractors, one a file. They see views and instances, never spaCy and never labels."""
