"""How problems are put: templates, strategies, worked examples."""
