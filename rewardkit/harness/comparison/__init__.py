"""Runs over the same problems, side by side."""
