"""Why a decision came out as it did: the parts of each score, what is to be said of them. Nothing prints."""
