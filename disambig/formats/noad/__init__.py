"""NOAD-MASC: running text with senses of the New Oxford American Dictionary."""
