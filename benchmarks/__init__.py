"""Measurements of speed and memory, as ratios side by side in one run; see README.md."""
