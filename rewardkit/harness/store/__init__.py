"""What is read from and written to disk: run folders, rows, data files, checkpoints."""
