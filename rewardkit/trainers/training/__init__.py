"""A training with a recipe: plan it, check it, run it, report it."""
