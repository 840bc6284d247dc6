"""A model that was exported to C, compiled with all warnings as errors, and called from Python."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

STRICT = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]


class Compiled:
    """The functions of one model as Python functions of arrays."""

    def __init__(self, model, folder, name="model"):
        files = model.to_c(folder, name)
        self.name = files[0].stem
        self.sizes = self._sizes(Path(files[0]).read_text())
        library = Path(folder) / "model.so"
        subprocess.run([*STRICT, "-shared", "-fPIC", "-o", str(library), str(files[1]), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))

    def _sizes(self, header):
        lines = [line.split() for line in header.splitlines() if line.startswith(f"#define {self.name.upper()}_")]
        return {words[1].removeprefix(f"{self.name.upper()}_"): float(words[2]) for words in lines if len(words) > 2}

    def _call(self, function, *arguments):
        converted = [
            argument if isinstance(argument, int) else argument.ctypes.data_as(ctypes.c_void_p)
            for argument in (np.ascontiguousarray(a, dtype=float) if isinstance(a, list) else a for a in arguments)
        ]
        getattr(self._library, f"{self.name}_{function}")(*converted)

    def _new(self, *sizes):
        return np.full([int(self.sizes[s]) if isinstance(s, str) else s for s in sizes], np.nan)

    def lift(self, state):
        out = self._new("OBSERVABLES")
        self._call("lift", np.ascontiguousarray(state), out)
        return out

    def state(self, outputs, inputs):
        out = self._new("STATES")
        self._call("state", np.ascontiguousarray(outputs), np.ascontiguousarray(inputs), out)
        return out

    def shift(self, state, output, acted):
        out = state.copy()
        self._call("shift", out, np.ascontiguousarray(output), np.ascontiguousarray(acted))
        return out

    def start(self, state):
        out = self._new("CARRIED")
        self._call("start", np.ascontiguousarray(state), out)
        return out

    def step(self, carried, acting):
        out = self._new("CARRIED")
        self._call("step", np.ascontiguousarray(carried), np.ascontiguousarray(acting), out)
        return out

    def read(self, carried):
        out = self._new("OUTPUTS")
        self._call("read", np.ascontiguousarray(carried), out)
        return out

    def linearise(self, carried, acting):
        a, b, offset = self._new("CARRIED", "CARRIED"), self._new("CARRIED", "INPUTS"), self._new("CARRIED")
        self._call("linearise", np.ascontiguousarray(carried), np.ascontiguousarray(acting), a, b, offset)
        return a, b, offset

    def simulate(self, outputs, inputs):
        out = self._new(len(inputs) - int(self.sizes["HISTORY"]), "OUTPUTS")
        self._call("simulate", np.ascontiguousarray(outputs), np.ascontiguousarray(inputs), len(inputs), out)
        return out
