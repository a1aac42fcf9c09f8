"""Tasks of no language and no paper: candidates are named by a config. Features never enter here."""
