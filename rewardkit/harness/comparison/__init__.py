"""Compare runs over the same problems."""
