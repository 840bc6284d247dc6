"""`koopsieve app`: the whole way from logs to a model in a browser, on this computer only.

It calls `sift` in a process of its own and shows the report that `koopsieve sift` writes; nothing is computed here.
"""

from koopsieve.app.server import serve

__all__ = ["serve"]
