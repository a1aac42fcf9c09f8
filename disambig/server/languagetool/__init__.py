"""LanguageTool's public HTTP interface, version 1: requests in, matches out. No model is asked here."""
