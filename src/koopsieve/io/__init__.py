"""What a run leaves behind: files with fixed names that people and other programs read."""

from koopsieve.io.folder import check_writable, whole_folder
from koopsieve.io.json import plain, write_json
from koopsieve.io.run import summarise, write_run

__all__ = ["check_writable", "plain", "summarise", "whole_folder", "write_json", "write_run"]
