"""flex.io.loadtxt and savetxt against NumPy's."""

import io
import warnings

import numpy as np
import pytest

import flex

TABLE = ["1 2 3", "4 5 6"]


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        *(
            (lines, {"ndmin": n, "unpack": unpack})
            for lines in (["1"], ["1 2 3"], ["1", "2"], TABLE, [], ["# nothing"])
            for n in (0, 1, 2)
            for unpack in (False, True)
        ),
        ([" 1 , 2 ", "3,4 "], {"delimiter": ","}),
        (["1\t2"], {"delimiter": "\t"}),
        (["1 2", "# c", "", "3 4 # x"], {}),
        ([" 1 2 ; x", "% 3"], {"comments": [";", "%"]}),
        (["a b", "1 2"], {"skiprows": 1}),
        (["# a", "# b", "1 2"], {"skiprows": 1}),
        (TABLE, {"skiprows": 5}),
        (["# a", "1", "2", "3"], {"max_rows": 2}),
        (TABLE, {"max_rows": 0}),
        (TABLE, {"usecols": (-1, 0)}),
        (TABLE, {"usecols": 1}),
        (TABLE, {"usecols": [1], "ndmin": 2}),
        (["1e400 -inf nan -0.0 5e-324"], {}),
        (["+5 -7 127"], {"dtype": "int8"}),
        (["18446744073709551615 0"], {"dtype": "uint64"}),
        (["2 0"], {"dtype": "bool"}),
        (["1.5 2.25"], {"dtype": "float16"}),
        (["1+2j (3-4j)", "5 6j"], {"dtype": "complex64"}),
        ([b"1 2", b"3 4"], {}),
    ],
)
def test_what_is_read(lines, options):
    with warnings.catch_warnings(action="ignore"):  # of NumPy, about texts without numbers
        expected = np.loadtxt(lines, **options)
    found = flex.io.loadtxt(lines, **{"dtype": "float64", **options})
    assert found.dtype == str(expected.dtype)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["1 2", "x 3"], {}, "line 2: 'x' is no number of float32"),
        (["a", "1_0"], {"skiprows": 1}, "line 2: '1_0' is no number"),
        (["\uff11"], {}, "line 1: '\uff11' is no number"),
        (["1,,2"], {"delimiter": ","}, "line 1: '' is no number"),
        (["1.5"], {"dtype": int}, "'1.5' is no number of int64"),
        (["0x10"], {"dtype": int}, "'0x10' is no number of int64"),
        (["1 300"], {"dtype": "int8"}, "'300' is no number of int8"),
        (["-1"], {"dtype": "uint64"}, "'-1' is no number of uint64"),
        (["9223372036854775808"], {"dtype": int}, "is no number of int64"),
        (["True"], {"dtype": bool}, "'True' is no number of bool"),
        (["1 2", "", "3"], {}, "line 3 has 1 columns, those before 2"),
        (["1 2 3"], {"usecols": 3}, "line 1 has 3 columns, and usecols=3"),
        (["1"], {"ndmin": 3}, "ndmin is 3; it is 0, 1 or 2"),
        (["1"], {"delimiter": ""}, "the delimiter is empty"),
    ],
)
def test_what_is_refused(lines, options, message):
    with pytest.raises(ValueError, match=r"^loadtxt: ") as error:
        flex.io.loadtxt(lines, **options)
    assert message in str(error.value)
    with pytest.raises((ValueError, TypeError)):  # NumPy refuses it too
        np.loadtxt(lines, **{"dtype": float, **options})


A = np.array([[1.5, -2.0, 1e-30], [np.nan, np.inf, 3.0]])
C = np.array([[1.5 + 2j, -2 - 0.25j], [complex(np.nan, -3), complex(0, -np.inf)]])


@pytest.mark.parametrize(
    ("x", "options"),
    [
        (A, {}),
        (A[0], {}),
        (A[:0], {}),
        (A[:, :0], {}),
        (C, {}),
        (C[0], {"fmt": "%.2f"}),
        (C, {"fmt": "%g %g %g %g"}),
        (C, {"fmt": ["%g/%g", "(%g, %g)"]}),
        (A, {"fmt": "%s", "delimiter": ","}),
        (A, {"fmt": ["%.1f", "%g", "%8.3e"], "header": "a b\nc", "footer": "+-"}),
        (A, {"fmt": "%g and %g, %g", "newline": "\r\n", "comments": "", "header": "x"}),
        (np.array([[2**63, 1]], "uint64"), {"fmt": "%d"}),
        (np.array([[True, False]]), {"fmt": "%d"}),
        (np.array([[1, -2]], "int8"), {}),
    ],
)
def test_what_is_written(x, options, tmp_path):
    theirs, ours, encoded = io.StringIO(), io.StringIO(), io.BytesIO()
    np.savetxt(theirs, x, **options)
    flex.io.savetxt(ours, flex.asarray(x), **options)
    assert ours.getvalue() == theirs.getvalue()
    flex.io.savetxt(encoded, x, **options)
    assert encoded.getvalue().decode() == theirs.getvalue()
    flex.io.savetxt(tmp_path / "x.txt", x, **options)
    assert (tmp_path / "x.txt").read_bytes().decode() == theirs.getvalue()


def test_round_trips(tmp_path):
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64", "complex128", "int64"):
        x = (rng.normal(size=(5, 4)) * 1e6).astype(dtype)
        options = {"fmt": "%d"} if dtype == "int64" else {}
        flex.io.savetxt(tmp_path / "x.txt", flex.asarray(x), **options)
        assert flex.io.loadtxt(str(tmp_path / "x.txt"), dtype=dtype).tolist() == x.tolist()
        assert np.loadtxt(tmp_path / "x.txt", dtype=dtype).tolist() == x.tolist()


def test_files(tmp_path):
    path = tmp_path / "x.csv"
    flex.io.savetxt(path, [[1.0, 2.0]], "%g", ",", header="h\u00e9")
    assert path.read_text(encoding="utf-8") == "# h\u00e9\n1,2\n"
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        for file in (binary, text):
            assert flex.io.loadtxt(file, delimiter=",").tolist() == [1, 2]
    # a file that cannot be written whole stays as it was
    with pytest.raises(TypeError):
        flex.io.savetxt(path, [[1j, 2.0]], ["%d", "%d"])
    assert path.read_text(encoding="utf-8").endswith("1,2\n")
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]
    latin = tmp_path / "latin.txt"
    flex.io.savetxt(latin, [1.0], header="\u00e9", encoding="latin1")
    assert flex.io.loadtxt(latin, encoding="latin1").item() == 1
    with pytest.raises(UnicodeDecodeError):
        flex.io.loadtxt(latin)
    with pytest.raises(FileNotFoundError):
        flex.io.loadtxt(tmp_path / "none")
    with pytest.raises(
        TypeError, match="loadtxt: fname is a path, a file or lines of text, not int"
    ):
        flex.io.loadtxt(3)


@pytest.mark.parametrize(
    ("x", "fmt", "error", "message"),
    [
        (3.0, "%g", flex.ShapeError, "X has one or two dimensions, got shape []"),
        (np.zeros((1, 2, 3)), "%g", flex.ShapeError, "got shape [1, 2, 3]"),
        ([[1.0, 2.0]], "%g %g %g", ValueError, "'%g %g %g' has 3 formats, and a row 2 numbers"),
        ([[1.0, 2.0]], "x", ValueError, "'x' has 0 formats"),
        ([[1.0, 2.0]], ["%g"], ValueError, "fmt has 1 formats, and X 2 columns"),
    ],
)
def test_errors_of_writing(x, fmt, error, message):
    with pytest.raises(error, match=r"^savetxt: ") as found:
        flex.io.savetxt(io.StringIO(), x, fmt)
    assert message in str(found.value)
