"""Ready counts, read: TSV, the layout of Web 1T, Google Books. No text is cut here."""
