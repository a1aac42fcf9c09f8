"""Making count tables: from text, from ready counts, from other tables. No lookups here."""
