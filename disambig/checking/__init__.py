"""Checking texts like a linter: flags at their places, corrections of files. No model and no command line."""
