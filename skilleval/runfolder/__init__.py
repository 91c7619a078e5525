"""The run folder: written, read back, resumed, replayed, graded again, cleaned up."""
