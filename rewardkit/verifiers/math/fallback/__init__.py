"""Slow deciders that run in a worker only: sympy and math-verify."""
