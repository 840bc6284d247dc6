"""The engine: what is on disk is not computed again, and nothing else decides the result."""

import json

import pytest

from koopsieve._types import KoopsieveError
from koopsieve.reproduction.monte_carlo import RunTask, claim, run_tasks


def tasks(count, offset=0.0):
    return [RunTask(f"run{i:03d}", dict, ([("value", i + offset), ("odd", float("inf"))],)) for i in range(count)]


def test_results_come_in_the_order_of_the_tasks_and_read_back_equal(tmp_path):
    found = run_tasks(tasks(4), tmp_path, {"seed": 0}, workers=1)
    assert [each["value"] for each in found] == [0.0, 1.0, 2.0, 3.0]
    assert found[0]["odd"] == "inf"
    json.loads((tmp_path / "run000.json").read_text())


def test_processes_leave_the_same_bytes_as_one(tmp_path):
    run_tasks(tasks(3), tmp_path / "one", {"seed": 0}, workers=1)
    run_tasks(tasks(3), tmp_path / "two", {"seed": 0}, workers=2)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize("content", [None, '{"value": 9', "", "{}"])
def test_only_what_is_missing_or_cut_off_is_computed(content, tmp_path):
    run_tasks(tasks(4), tmp_path, {"seed": 0}, workers=1)
    (tmp_path / "run002.json").unlink() if content is None else (tmp_path / "run002.json").write_text(content)
    (tmp_path / ".run001.json.abc").write_text('{"value": 9')  # what an interrupted write leaves beside
    seen = []

    def watch(items, description, total):
        seen.append(total)
        return items

    # the remaining files hold the old values: had they been computed again, they would hold the new ones
    found = run_tasks(tasks(4, offset=0.5), tmp_path, {"seed": 0}, workers=1, progress=watch)
    assert seen == [1]
    assert [each["value"] for each in found] == [0.0, 1.0, 2.5, 3.0]


def test_a_folder_made_with_other_settings_is_refused_and_the_message_says_which(tmp_path):
    claim(tmp_path, {"seed": 0, "data": {"dt": 0.1, "hold": 3}})
    claim(tmp_path, {"seed": 0, "data": {"dt": 0.1, "hold": 3}})
    with pytest.raises(KoopsieveError, match=r"data\.dt: asked 0\.2, found 0\.1.*another --out"):
        claim(tmp_path, {"seed": 0, "data": {"dt": 0.2, "hold": 3}})
    (tmp_path / "settings.json").write_text('{"se')
    with pytest.raises(KoopsieveError, match="cannot be read, it is not JSON"):
        claim(tmp_path, {"seed": 0})


def test_an_error_in_a_run_is_not_swallowed(tmp_path):
    broken = [*tasks(1), RunTask("bad", int, ("not a number",))]
    with pytest.raises(ValueError, match="not a number"):
        run_tasks(broken, tmp_path, {}, workers=2)
    assert not (tmp_path / "bad.json").exists()
