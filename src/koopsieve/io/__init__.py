"""What a run leaves behind: files with fixed names that people and other programs read."""

from koopsieve._json import plain, write_json
from koopsieve.io.folder import check_writable, whole_folder
from koopsieve.io.run import write_run
from koopsieve.io.summary import summarise

__all__ = ["check_writable", "plain", "summarise", "whole_folder", "write_json", "write_run"]
