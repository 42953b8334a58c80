"""Libraries on tensors: scikit-learn, SciPy, array-api-extra, xarray, dask, pandas, polars, pyarrow, matplotlib. What they compute stays a
tensor where they leave arrays as they are, with the values that they give for NumPy's arrays. einops and opt_einsum: test_einops.py.
"""

import json
import subprocess
import sys
from pathlib import Path

import array_api_extra as xpx
import numpy as np
import pytest

import flex

HERE = Path(__file__).parent
A = np.arange(12.0).reshape(3, 4) + 0.25
N = np.where(A > 8, np.nan, A)


def same(found, expected, rtol=1e-12):
    assert type(found) is flex.Tensor
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=rtol, atol=1e-12)


def script(name, *args):
    """What a script of this folder prints; those set a variable before they import SciPy."""
    done = subprocess.run(
        [sys.executable, HERE / name, *args], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- SciPy and scikit-learn, with their dispatch


def test_scipy():
    """The functions of the list stay tensors, more than stay arrays of array_api_strict. Those that do not: oaconvolve adds to a view of
    its result, which is a value of its own here; sosfilt and sosfiltfilt ask for buffers that can be written to."""
    rows = [
        line.split() for line in (HERE / "reference/scipy_functions.txt").read_text().splitlines()
    ]
    found = [line.split() for line in script("scipy_calls.py", "flex").splitlines()]
    assert found == [row[:2] for row in rows]
    stay = {name for name, ours, _ in rows if ours == "yes"}
    theirs = {name for name, _, strict in rows if strict == "yes"}
    assert len(stay) >= 260
    assert theirs - stay == {"signal.oaconvolve", "signal.sosfilt", "signal.sosfiltfilt"}
    assert len(stay) > len(theirs)


def test_sklearn():
    report = json.loads(script("sklearn_fits.py"))
    assert len(report) == 2 * 11 + 6
    for name, (types, units) in report.items():
        assert types == (["Tensor"] if "," in name else ["float"]), name
        assert units < 100, name


# ---- array-api-extra

EXTRA = {
    "atleast_nd": lambda x, xp: xpx.atleast_nd(x, ndim=3),
    "angle": lambda x, xp: xpx.angle(x * 1j),
    "apply_where": lambda x, xp: xpx.apply_where(x > 3, x, lambda y: y * 2, fill_value=0.0),
    "argpartition": lambda x, xp: xpx.argpartition(-x, 1)[..., 0],
    "at add": lambda x, xp: xpx.at(x)[x > 3].add(5.0),
    "at multiply": lambda x, xp: xpx.at(x, (0,)).multiply(2.0),
    "at set": lambda x, xp: xpx.at(x)[0, 0].set(5.0),
    "cov": lambda x, xp: xpx.cov(x),
    "create_diagonal": lambda x, xp: xpx.create_diagonal(x[0]),
    "isclose": lambda x, xp: xpx.isclose(x, x + 1e-9),
    "isin": lambda x, xp: xpx.isin(x, x[0]),
    "kron": lambda x, xp: xpx.kron(x, x),
    "lazy_apply": lambda x, xp: xpx.lazy_apply(np.sin, x, as_numpy=True),
    "nan_to_num": lambda x, xp: xpx.nan_to_num(x / (x - x[0, 0])),
    "nunique": lambda x, xp: xpx.nunique(x),
    "one_hot": lambda x, xp: xpx.one_hot(xp.asarray([0, 2]), 3, dtype=xp.float64),
    "pad": lambda x, xp: xpx.pad(x, 1),
    "partition": lambda x, xp: xp.sort(xpx.partition(x, 2)),
    "searchsorted": lambda x, xp: xpx.searchsorted(x[0], x[0]),
    "setdiff1d": lambda x, xp: xpx.setdiff1d(x[0], x[1]),
    "sinc": lambda x, xp: xpx.sinc(x),
    "union1d": lambda x, xp: xpx.union1d(x[0], x[1]),
    "unravel_index": lambda x, xp: xpx.unravel_index(xp.asarray([3]), (2, 2))[0],
}


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")
@pytest.mark.parametrize("name", EXTRA)
def test_array_api_extra(name):
    same(EXTRA[name](flex.asarray(A), flex), EXTRA[name](A.copy(), np))


# ---- xarray and dask.array

LABELLED = {
    "arithmetic": lambda d, xr: d + d.isel(a=0) * 2,
    "aggregate": lambda d, xr: d.sum("a") / d.max("a") + d.mean(),
    "missing": lambda d, xr: d.mean("b", skipna=True) + d.isnull().sum("b"),
    "std": lambda d, xr: d.std("b", ddof=1),
    "median": lambda d, xr: d.median("a"),
    "quantile": lambda d, xr: d.quantile(0.3, "a"),
    "select": lambda d, xr: d.sel(a=[10, 30]).isel(b=slice(1, 3)),
    "where": lambda d, xr: d.where(d > 3, 0.0),
    "concat": lambda d, xr: xr.concat([d, d], "a").T,
    "dot": lambda d, xr: xr.dot(d, d.rename(a="c"), dim="b"),
    "cumsum": lambda d, xr: d.cumsum("b"),
    "roll": lambda d, xr: d.roll(b=1),
    "diff": lambda d, xr: d.diff("b"),
    "stack": lambda d, xr: d.stack(z=("a", "b")),
    "argmax": lambda d, xr: d.argmax("b"),
    "ufunc": lambda d, xr: np.sin(d).clip(-0.5, 0.5).round(2),
    "groupby": lambda d, xr: d.groupby("a").sum(),
    "dataset": lambda d, xr: xr.Dataset({"u": d}).mean("b")["u"],
    "coarsen": lambda d, xr: d.coarsen(b=2).mean(),
    "broadcast": lambda d, xr: xr.broadcast(d, d.isel(a=0))[1],
    "apply_ufunc": lambda d, xr: xr.apply_ufunc(lambda x: x * x, d),
    "expand_dims": lambda d, xr: d.expand_dims("c").transpose("b", "c", "a"),
}


@pytest.mark.parametrize("name", LABELLED)
def test_xarray(name):
    import xarray as xr

    values = N if name == "missing" else A
    coordinates = {"a": [10, 20, 30]}
    ours, theirs = (
        LABELLED[name](xr.DataArray(x, dims=("a", "b"), coords=coordinates), xr)
        for x in (flex.asarray(values), values)
    )
    assert ours.dims == theirs.dims
    same(ours.data, theirs.data)
    assert repr(ours)


CHUNKS = {
    "compute": lambda a, da: a,
    "elementwise": lambda a, da: da.exp(-a) + a[0],
    "sum": lambda a, da: a.sum(0),
    "mean": lambda a, da: a.mean(),
    "var": lambda a, da: a.var(1),
    "max": lambda a, da: a.max(0) - a.min(0),
    "cumsum": lambda a, da: a.cumsum(axis=0),
    "matmul": lambda a, da: a @ a.T,
    "tensordot": lambda a, da: da.tensordot(a, a, axes=((0, 1), (0, 1))),
    "einsum": lambda a, da: da.einsum("ij,kj->ik", a, a),
    "concatenate": lambda a, da: da.concatenate([a, a], 1),
    "block": lambda a, da: da.block([[a, a], [a, a]]),
    "stack": lambda a, da: da.stack([a, a]),
    "rechunk": lambda a, da: a.rechunk((3, 1)),
    "reshape": lambda a, da: a.reshape(12),
    "take": lambda a, da: a[[2, 0]][:, ::2],
    "where": lambda a, da: da.where(a > 3, a, 0.0),
    "norm": lambda a, da: da.linalg.norm(a),
    "singular values": lambda a, da: da.linalg.svd(a[:, :2].rechunk((1, 2)))[1],
    "percentile": lambda a, da: da.percentile(a.ravel(), [25, 50]),
    "median": lambda a, da: da.median(a, axis=0),
    "topk": lambda a, da: da.topk(a, 2),
    "pad": lambda a, da: da.pad(a, 1),
    "roll": lambda a, da: da.roll(a, 1, 0),
    "histogram": lambda a, da: da.histogram(a, bins=3, range=(0, 12))[0],
    "map_overlap": lambda a, da: a.map_overlap(lambda x: x * 2, depth=1, boundary="none"),
    "with numpy": lambda a, da: a + da.from_array(A, chunks=(3, 2)),
}


@pytest.mark.parametrize("name", CHUNKS)
def test_dask(name):
    import dask.array as da

    ours, theirs = (
        CHUNKS[name](da.from_array(x, chunks=(2, 2)), da).compute(scheduler="sync")
        for x in (flex.asarray(A), A)
    )
    same(flex.asarray(ours) if np.ndim(theirs) == 0 else ours, theirs)


@pytest.mark.parametrize("first", ["flex", "dask.array"])
def test_dask_imported_before_and_after(first):
    code = (
        f"import {first}, flex, dask.array as da\n"
        "x = da.from_array(flex.asarray([1.0, 2.0, 4.0]), chunks=2)\n"
        "assert type(da.percentile(x, 50).compute()) is flex.Tensor\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


# ---- tables


def test_pandas():
    import pandas as pd

    column = pd.Series(flex.asarray([1.5, 2.0, 4.0]))
    assert column.dtype == np.float32
    assert column.astype(flex.float64).dtype == np.float64
    assert pd.Series(flex.asarray([1, 2]), dtype=flex.int32).dtype == np.int32
    table = pd.DataFrame(flex.asarray(A), columns=list("abcd"))
    table["e"] = flex.asarray([3, 1, 2])
    assert table.dtypes.astype(str).tolist() == ["float64"] * 4 + ["int64"]
    np.testing.assert_array_equal(flex.asarray(table[["a", "b"]].to_numpy()), A[:, :2])
    same(flex.asarray(table["a"]), A[:, 0])
    assert (column * flex.asarray([1.0, 2.0, 3.0])).tolist() == [1.5, 4.0, 12.0]
    assert table.iloc[flex.asarray([2, 0])]["e"].tolist() == [2, 3]
    assert pd.Index(flex.asarray([3, 1])).tolist() == [3, 1]
    assert pd.isna(flex.asarray(N)).tolist() == np.isnan(N).tolist()


def test_polars():
    import polars as pl

    column = pl.Series("u", flex.asarray([1.5, 2.0, 4.0]))
    assert column.dtype == pl.Float32
    same(flex.asarray(column), np.array([1.5, 2.0, 4.0], np.float32))
    table = pl.DataFrame({"a": flex.asarray([1, 2]), "b": flex.asarray([True, False])})
    assert table.schema == {"a": pl.Int64, "b": pl.Boolean}
    same(flex.asarray(pl.DataFrame({"a": [1, 2], "b": [3, 4]})), np.array([[1, 3], [2, 4]]))
    same(flex.asarray(pl.Series([1.0, 2.0]).rechunk()), np.array([1.0, 2.0]))
    assert flex.asarray(table["b"]).tolist() == [True, False]


def test_pyarrow():
    import pyarrow as pa

    for dtype in ("int8", "uint64", "float16", "float32", "float64", "bool"):
        x = flex.asarray([1, 0, 1], dtype=dtype)
        array = pa.array(x)
        assert str(array.type) == {
            "float16": "halffloat",
            "float32": "float",
            "float64": "double",
        }.get(dtype, dtype)
        again = flex.asarray(array)
        assert again.dtype == x.dtype
        assert again.tolist() == x.tolist()
    same(flex.asarray(pa.chunked_array([[1, 2], [3]])), np.array([1, 2, 3]))
    table = pa.table({"a": flex.asarray([1, 2])})
    same(flex.asarray(table["a"]), np.array([1, 2]))
    with pytest.raises(BufferError, match="1 of 2 elements are null"):
        flex.asarray(pa.array([1, None]))


# ---- matplotlib


def test_matplotlib():
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def drawn(t):
        figure = matplotlib.figure.Figure()
        (line, image), (bars, fields) = figure.subplots(2, 2)
        line.plot(t(A[0]), t(A[1]))
        line.scatter(t(A[0]), t(A[2]), c=t(A[2]), s=t(A[0] * 10))
        line.errorbar(t(A[0]), t(A[1]), t(A[2] / 10))
        line.fill_between(t(A[0]), t(A[1]), t(A[2]))
        line.set_xlim(t(np.array(0.0)), t(np.array(6.0)))
        image.imshow(t(A))
        bars.hist(t(A.ravel()), bins=t(np.array([0.0, 3.0, 9.0, 12.0])))
        bars.bar(t(A[0]), t(A[1]))
        fields.contourf(t(A))
        fields.pcolormesh(t(A))
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())

    picture = drawn(flex.asarray)
    np.testing.assert_array_equal(picture, drawn(np.asarray))
    assert flex.asarray(picture).dtype == flex.uint8


def test_images_of_bfloat16():
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def drawn(x, **kwargs):
        figure = matplotlib.figure.Figure()
        axes = figure.subplots()
        axes.imshow(x, **kwargs)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())

    rgb = np.arange(48).reshape(4, 4, 3) / 64
    for x in (A, rgb):
        t = flex.asarray(x, dtype=flex.bfloat16)
        np.testing.assert_array_equal(drawn(t), drawn(t.astype(flex.float32).numpy()))
