"""The command line: one module per command, imported only when the command is run.

The entry point is `disambig.cli.main:run`; options that several commands share are in `options`.
"""
