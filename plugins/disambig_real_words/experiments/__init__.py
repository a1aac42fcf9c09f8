"""Figures of this plugin: how well words of held-out text are told from those they are mistaken for."""
