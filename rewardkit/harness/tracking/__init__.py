"""Log a run's figures to wandb, TensorBoard or Trackio."""
