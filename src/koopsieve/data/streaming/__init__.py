"""Data larger than memory: pieces of episodes that arrive block by block, and where they come from."""
