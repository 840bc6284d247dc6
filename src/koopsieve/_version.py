"""The version, where every stage may read it."""

__version__ = "0.1.0"
