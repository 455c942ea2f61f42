"""The motion task: predict the next points of a trajectory."""
