"""The page of a run; curves, exports, tracking."""
