"""The scores of Senseval."""
