"""The command line: `koopsieve demo`, `koopsieve reduce`, … ."""

from koopsieve.cli.app import app, main

__all__ = ["app", "main"]
