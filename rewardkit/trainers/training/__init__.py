"""A training by a recipe: planned, checked, run, told."""
