"""What ``disambig doctor`` looks at: installation, packs, models, a sample. Nothing is mended here."""
