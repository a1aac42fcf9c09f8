"""Features of candidates that each instance has of its own: what the source says, what their texts hold."""
