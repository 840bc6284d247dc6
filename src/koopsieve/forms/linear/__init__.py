"""The linear form."""
