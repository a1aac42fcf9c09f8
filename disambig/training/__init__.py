"""Training: examples from text, splits by document, tuning, calibration. No task and no learner here."""
