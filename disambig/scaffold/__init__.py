"""A new plugin from templates: what ``disambig new-plugin`` writes. Nothing of it runs here."""
