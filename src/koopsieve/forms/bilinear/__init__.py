"""The bilinear form."""
