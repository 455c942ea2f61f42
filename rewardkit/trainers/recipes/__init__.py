"""Recipes: what a training is made of, each a TOML file."""
