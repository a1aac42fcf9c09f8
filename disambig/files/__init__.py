"""Files as bytes and lines: opened, unpacked, decoded, saved whole or not at all. No format is known here."""
