"""Empty places: how likely one of a task's words belongs between two others. Learned from running text."""
