"""A command that gets a signal before or after its n-th change on the disk; what it leaves behind is judged.

    python -m tests.unit.io.kill_points WORKPLACE POINTS HINDRANCE [COMMAND …]

Up to POINTS points are tried for each command and signal, in a process of its own each, forked from this one so that
nothing is imported or computed twice. HINDRANCE is what stands in the folder beside the user's files: none, mount (a
file system mounted on a folder within) or closed (folders that the user, who is not root, may not change or read).
Prints how many points were tried for each command, and the findings, as JSON.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from koopsieve._written import written_whole
from koopsieve.cli import app, main
from koopsieve.cli import sift as run
from koopsieve.io.run import write_run
from tests.runs import duffing_result

CHANGES = ("mkdir", "rename", "replace", "unlink", "remove", "rmdir", "link", "symlink", "chmod", "fsync", "open")
SIFT = ["sift", "bench.csv", "--states", "y", "--inputs", "u"]
COMMANDS = {
    "sift": [*SIFT, "--out", "out"],
    "export": ["export", "model.npz", "--to", "c", "--out", "out"],
    "compare": ["compare", "one", "two", "--out", "out/comparison.html"],
    "predict": ["predict", "model.npz", "bench.csv", "--out", "out/ahead.csv"],
    "example": ["example", "--samples", "200", "--out", "out/bench.csv"],
}
SIGNALS = {signal.SIGINT: 0, signal.SIGTERM: 7, signal.SIGKILL: 13}  # and where to begin if not all points are tried
IN_FOLDERS = ("sift", "export")  # these make --out where it is missing
FILES = {
    "sift": ["summary.json", "model.npz", "inclusion.csv", "report.html"],
    "export": ["model.h", "model.c", "model_test.c", "Makefile"],
    "compare": ["comparison.html"],
    "predict": ["ahead.csv"],
    "example": ["bench.csv"],
}
NOBODY = 65534
MINE = {"notes.txt": b"mine", "below/deep/record.csv": b"1,2", ".hidden/x": b"", "result": b"a file without a suffix"}


class Points:
    """Counts what is about to change on the disk, and what has changed; sends the signal at one of these points."""

    def __init__(self, place, number, at):
        self.place, self.number, self.at, self.count = str(place), number, at, 0
        for name in CHANGES:
            setattr(os, name, self.watched(getattr(os, name)))

    def watched(self, real):
        def call(*arguments, **options):
            here = self.is_change(real, arguments)
            if here:
                self.tick()
            result = real(*arguments, **options)
            if here:
                self.tick()
            return result

        return call

    def is_change(self, real, arguments):
        if real.__name__ == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return False
        return isinstance(arguments[0], int) or os.path.abspath(arguments[0]).startswith(self.place)  # noqa: PTH100

    def tick(self):
        self.count += 1
        if self.count - 1 == self.at:
            os.kill(os.getpid(), self.number)


def prepare(place, command, fresh, hindrance):
    """Make the folder that the command finds: files of the user's, and old ones of its own unless it is `fresh`."""
    if os.path.ismount(place / "out" / "disk"):
        subprocess.run(["umount", place / "out" / "disk"], check=True)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(place.parent / "given", place)
    own = {} if fresh else {name: b"old " + name.encode() for name in FILES[command]}
    if fresh and command in IN_FOLDERS:
        return
    for name, content in {**MINE, **own}.items():
        (place / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "out" / name).write_bytes(content)
    if hindrance == "mount":
        (place / "out" / "disk").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", place / "out" / "disk"], check=True)
        (place / "out" / "disk" / "deep").mkdir()
        (place / "out" / "disk" / "deep" / "file").write_bytes(b"mine")
    if hindrance == "closed":
        for path in (place, *place.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        (place / "out" / "below").chmod(0o555)
        (place / "out" / ".hidden").chmod(0o000)


def run_until(place, arguments, number, at, hindrance="none"):
    """Run the command in a process of its own; return how it ended and how many points it passed."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        os.chdir(place)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.argv = ["koopsieve", *arguments]
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
        if hindrance == "closed":
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        points = Points(place, number, at)
        code = 1
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        finally:
            os.write(tell, str(points.count).encode())
            os._exit(code or 0)
    os.close(tell)
    with open(told) as stream:  # noqa: PTH123
        count = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), int(count or 0)


def content(place):
    return {str(p.relative_to(place)): p.read_bytes() if p.is_file() else None for p in sorted(place.rglob("*"))}


def judged(before, after, new, command, killed):
    """Return what is wrong with what was left: foreign things changed, old and new mixed, old ones lost, traces."""
    names = {f"out/{name}" for name in FILES[command]}
    traces = {path for path in after if ".koopsieve-" in path}
    foreign = {path: value for path, value in before.items() if path not in names}
    wrong = [f"{path} was changed" for path, value in foreign.items() if path not in after or after[path] != value]
    wrong += [f"{path} was left" for path in after.keys() - before.keys() - names - traces if path != "out"]
    there, old = ({path: some[path] for path in names if path in some} for some in (after, before))
    wrong += [f"{path} was left" for path in traces if not killed]
    if not killed and not there and "out" in after and "out" not in before:
        wrong.append("an empty folder was left")
    if killed and "out" not in before and there not in ({}, new):
        wrong.append("some of the files look like a result")
    if killed and not (there.items() <= old.items() or there.items() <= new.items()):
        wrong.append("old and new files are mixed")
    if not killed and there not in (old, new):
        wrong.append("neither all old nor all new files are there")
    kept = {f"out/{path.split('/previous/')[1]}": after[path] for path in traces if "/previous/" in path}
    if there != new and not old.items() <= {**there, **kept}.items():
        wrong.append("old files are lost")
    return wrong


class Trial:
    """One command into a folder with old files, or into a new one: what it finds and writes if nobody interferes."""

    def __init__(self, place, command, fresh, hindrance="none"):
        self.place, self.command, self.fresh, self.hindrance = place, command, fresh, hindrance
        self.arguments = [*COMMANDS[command], *([] if fresh else ["--overwrite"])]
        prepare(place, command, fresh, hindrance)
        self.before = content(place)
        code, self.count = run_until(place, self.arguments, 0, -1, hindrance)
        self.new = {f"out/{name}": (place / "out" / name).read_bytes() for name in FILES[command]}
        wrong = judged(self.before, content(place), self.new, command, False) + (["it failed"] if code else [])
        self.findings = [f"{command}, fresh={fresh}, no signal: {one}" for one in wrong]

    def tried(self, number, at):
        """Return what is wrong after a signal at one of the points."""
        prepare(self.place, self.command, self.fresh, self.hindrance)
        code, _ = run_until(self.place, self.arguments, number, at, self.hindrance)
        wrong = judged(self.before, content(self.place), self.new, self.command, number == signal.SIGKILL)
        expected = -number if number == signal.SIGKILL else 128 + number
        wrong += [] if code == expected else [f"it ended with {code}"]
        where = f"{self.command}, fresh={self.fresh}, signal {number} at {at} of {self.count}"
        return [f"{where}: {one}" for one in wrong]


def try_points(place, command, points, hindrance):
    """Send each signal at some points of the command, into a folder with old files and into a new one."""
    tried, findings = 0, []
    for fresh in (False, True) if hindrance == "none" else (False,):
        trial = Trial(place, command, fresh, hindrance)
        findings += trial.findings
        step = max(1, trial.count // points)
        for number, first in SIGNALS.items():
            for at in range((first + fresh) % step, trial.count, step):
                findings += trial.tried(number, at)
                tried += 1
    return tried, findings


def provide(place):
    """Make what commands read; `sift` is given a result, and a page, instead of making them each time."""
    given, result = place.parent / "given", duffing_result(methods=False)
    given.mkdir(parents=True)
    app(["example", "--samples", "200", "--out", str(given / "bench.csv")], standalone_mode=False)
    result.model.save(given / "model.npz")
    for name in ("one", "two"):
        write_run(result, given / name)
    silent = contextlib.redirect_stdout(io.StringIO())
    with given_result(result), contextlib.chdir(given), silent:
        for arguments in COMMANDS.values():  # imports everything, which another user may not be allowed to read
            Path("out").mkdir()
            app(arguments, standalone_mode=False)
            shutil.rmtree("out")
    return result


@contextlib.contextmanager
def given_result(result):
    real = run.run, run.write_report
    run.run, run.write_report = lambda *_: result, write_page
    try:
        yield
    finally:
        run.run, run.write_report = real


def write_page(_, path, **__):
    with written_whole(path) as stream:
        stream.write(b"<html>new</html>")


def main_of_tests(workplace, points, hindrance, *commands):
    place = Path(workplace).resolve() / "case"
    with given_result(provide(place)):
        outcome = {command: try_points(place, command, int(points), hindrance) for command in commands or COMMANDS}
    findings = [one for _, found in outcome.values() for one in found]
    tried = {command: count for command, (count, _) in outcome.items()}
    sys.stdout.write(json.dumps({"tried": tried, "findings": findings}))


if __name__ == "__main__":
    main_of_tests(*sys.argv[1:])
