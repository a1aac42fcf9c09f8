"""Evaluation: figures and their intervals, from text whose words are taken as right. No fitting here."""
