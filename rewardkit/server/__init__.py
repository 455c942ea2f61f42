"""Verdicts over HTTP, for CPU nodes beside a training and for environments that conflict."""
