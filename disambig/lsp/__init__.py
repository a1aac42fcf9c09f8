"""A language server: the flags of the linter in editors, as one types. Nothing of pygls is imported here."""
