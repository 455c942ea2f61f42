"""Results: run folders, rows and data files; rates, intervals, comparison."""
