"""Verifiers as TRL reward functions."""
