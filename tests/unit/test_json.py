"""JSON that every reader accepts, and back."""

import json

import numpy as np

from koopsieve._written import json_number, plain, read_json, write_json


def test_what_json_does_not_know_becomes_plain():
    value = {"a": np.array([[1.0, np.inf], [np.nan, -np.inf]]), 2: (np.int64(3), np.float64(0.5), None, True, "x")}
    assert plain(value) == {"a": [[1.0, "inf"], ["nan", "-inf"]], "2": [3, 0.5, None, True, "x"]}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == plain(value)


def test_a_file_gives_the_numbers_back(tmp_path):
    write_json(tmp_path / "x.json", {"errors": [0.1, np.inf, np.nan]})
    found = [json_number(value) for value in read_json(tmp_path / "x.json")["errors"]]
    np.testing.assert_array_equal(found, [0.1, np.inf, np.nan])
