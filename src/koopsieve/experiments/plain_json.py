"""The names under which this folder knows `koopsieve._json`."""

from koopsieve._json import number, plain, read_json, write_json

__all__ = ["number", "plain", "read_json", "write_json"]
