"""Runs over several machines."""
