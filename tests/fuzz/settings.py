"""Settings as TOML and as flags: checked values that can be written down again, or words."""

from dataclasses import fields

from koopsieve.cli.command_settings import Settings, gather, to_toml
from tests.fuzz.values import NAMES, ODD, pick

KEYS = [entry.name for entry in fields(Settings)]
TEXTS = (
    "1", "-1", "1.5", "true", '"a"', "[1, 2]", '["y", "u"]', "nan", "inf", "[]", '""', "1979-05-27", "{a=1}", "'y'",
    "1e400", "0x10",
)  # fmt: skip
VALID = {
    "states": ['["y"]', '"y"'], "files": ['"a.csv"'], "gaps": ['"split"', '"refuse"'], "horizons": ["[1, 5]", "3"],
    "delays": ["2"], "form": ['"auto"'], "sieve": ['"graph"'], "seed": ["3"], "threshold": ["0.2"], "dt": ["0.1"],
    "max_gap": ["3"], "resample": ["0.5"], "stream": ['"no"'],
}  # fmt: skip


def case(rng, folder):
    path = folder / "settings.toml"
    lines = []
    for key in dict.fromkeys(pick(rng, [*KEYS, *NAMES, "state", "horizon"]) for _ in range(int(rng.integers(0, 6)))):
        value = pick(rng, VALID.get(key, TEXTS)) if rng.random() < 0.7 else pick(rng, TEXTS)
        shown = key if key.isidentifier() and key.isascii() else '"' + key.replace("\\", "").replace('"', "") + '"'
        lines.append(f"{shown.replace('_', '-') if rng.random() < 0.2 else shown} = {value}")
    text = "\n".join(lines).encode()
    if rng.random() < 0.2:
        text = text[: int(rng.integers(len(text) + 1))] + rng.bytes(3)
    path.write_bytes(text)
    flags = {pick(rng, KEYS): pick(rng, ODD) for _ in range(int(rng.integers(0, 2)))}
    found = gather(path if rng.random() < 0.9 else None, {"files": ["a.csv"], "states": ["y"], **flags})
    path.write_text(to_toml(found), encoding="utf-8")
    assert gather(path, {}) == found
