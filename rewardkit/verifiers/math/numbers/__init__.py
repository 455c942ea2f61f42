"""Exact and ball arithmetic on trees."""
