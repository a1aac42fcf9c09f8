"""Parsers as people use them: text in, trees out; kept in folders and packs."""
