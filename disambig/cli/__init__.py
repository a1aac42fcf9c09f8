"""The command line: one module per command, imported only when the command is run."""
