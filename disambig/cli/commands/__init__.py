"""The commands, one module each, with their options and help texts.

A command parses its options and calls the library; `disambig.cli` lists the commands.
"""
