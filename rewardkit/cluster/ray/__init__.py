"""Runs over a Ray cluster."""
