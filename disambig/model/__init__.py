"""Models: a task with its extractor, scorers, calibration and operating point; how they are kept."""
