"""Evaluation: figures with their intervals, from text whose words are taken as right. Nothing is fitted here."""
