"""TF-IDF of documents and of surroundings."""
