"""Files: run folders, rows, data files, checkpoints."""
