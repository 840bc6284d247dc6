"""What a run leaves behind: files with fixed names that people and other programs read."""

from koopsieve.io.json import write_json
from koopsieve.io.run import summarise, write_run

__all__ = ["summarise", "write_json", "write_run"]
