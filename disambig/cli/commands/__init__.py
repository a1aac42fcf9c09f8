"""The commands, one module each, with their options and help texts."""
