"""The n-gram count store: counting text, the file, and fast lookups. No task and no model in here."""
