"""The 24-point game."""
