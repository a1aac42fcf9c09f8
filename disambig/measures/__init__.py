"""Figures of decisions, their intervals and their significance. No model in here."""
