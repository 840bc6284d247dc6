"""Files: what a run leaves behind, under fixed names that people and other programs read."""
