"""The version, where every stage may read it."""

__version__ = "0.2.0"
