"""A training by a recipe: plan it, check it, run it, report it."""
