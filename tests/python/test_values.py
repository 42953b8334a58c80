"""Tensors as values: what a write changes and costs, and when it is lost; the values that a dtype accepts."""

import warnings

import numpy as np
import pytest
from support import address

import flex


class TestWritesWithViews:
    def test_named_rows_do_not_cause_a_copy_per_write(self):
        t = flex.zeros((1000, 3))
        t[0] = 0.5
        addresses = set()
        for k in range(1, 1000):
            row = t[k - 1]
            t[k] = row + 0.01 * (1 - row)
            addresses.add(address(t))
        assert len(addresses) == 1
        expected = np.zeros((1000, 3), np.float32)
        expected[0] = 0.5
        for k in range(1, 1000):
            row = expected[k - 1]
            expected[k] = row + np.float32(0.01) * (1 - row)
        assert np.array_equal(np.asarray(t), expected)

    def test_a_named_row_keeps_its_values(self):
        t = flex.zeros((100, 3))
        rows = []
        for k in range(100):
            rows.append(t[k])
            t[k] = k + 1
        assert all(row.tolist() == [0, 0, 0] for row in rows)
        assert t[:, 0].tolist() == list(range(1, 101))

    @pytest.mark.parametrize(
        "part",
        [
            np.s_[:, 3],
            np.s_[5],
            np.s_[:400],
            np.s_[::100, ::-1],
            np.s_[7, 3],
            np.s_[:0],
            np.s_[None, 5, 1:4],
        ],
    )
    def test_small_views_in_any_layout(self, part):
        t = flex.reshape(flex.arange(200_000, dtype="float32"), (4000, 50))
        expected = np.array(t)
        for _ in range(4):
            view = t[part]
            before = expected[part].copy()
            t[part] = view + 1
            expected[part] += 1
            assert np.array_equal(np.asarray(view), before)
            assert np.array_equal(np.asarray(t), expected)
            assert flex.broadcast_to(t[0, 0], (3, 4)).tolist() == [[expected[0, 0]] * 4] * 3

    def test_views_of_unwritten_tensors_share_memory(self):
        t = flex.zeros((1000, 3))
        rows = list(t)
        assert address(rows[5]) == address(t) + 60


class TestChainedAssignment:
    @pytest.mark.parametrize(
        "write",
        [
            "t[0][1] = 5",
            "t[0][:] = 9",
            "t.T[0, 0] = 7",
            "t.T[0] += 1",
            "flex.flip(t)[0] = 1",
            "[t[0]].pop()[1] = 2",
        ],
    )
    def test_a_write_to_a_temporary_warns(self, write):
        t = flex.zeros((2, 3))
        with pytest.warns(flex.ChainedAssignmentWarning, match=r"t\[0, 1\] = 5") as caught:
            exec(write, {"t": t, "flex": flex})
        assert len(caught) == 1
        assert flex.max(t) == 0

    def test_other_writes_do_not_warn(self):
        class Model:
            def __init__(self):
                self.weight = flex.zeros((2, 3))

        def local(t):
            t[0, 1] = 5
            t[0] += 1
            row = t[0]
            row[1] = 7
            return row

        model, parts = Model(), [flex.zeros(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert local(model.weight).tolist() == [1, 7, 1]
            model.weight[1] = 2
            model.weight[0][0].tolist()
            parts[0][1] = 3
            (lambda t: t.__setitem__(0, 1))(parts[0])
            for row in model.weight:
                row[0] = 9
        assert model.weight.tolist() == [[1, 6, 1], [2, 2, 2]]
        assert parts[0].tolist() == [1, 3, 0]

    @pytest.mark.parametrize(
        "body", ["row /= 2", "row *= 2; row -= 1", "print(len(x)); row += x[0]", "row @= x.T"]
    )
    def test_a_loop_that_loses_what_it_writes_warns_once(self, body):
        x = flex.ones((3, 3))
        names = {"x": x, "print": lambda *_: None}
        function = f"def f(x):\n for row in x: {body}\nfor _ in 1, 2: f(x)"
        for program, times in ((f"for row in x: {body}", 1), (function, 2)):
            with pytest.warns(flex.ChainedAssignmentWarning, match="written to row is lost") as got:
                exec(program, names)
            assert len(got) == times
        assert x.tolist() == [[1] * 3] * 3

    @pytest.mark.parametrize(
        "program",
        [
            "for row in x: row /= 2; rows.append(row)",
            "for row in x: row /= 2\nrows.append(row)",
            "for row in x: row += row",
            "for row in x: rows.append(row)",
            "for row in x:\n row /= 2\n def f(): return row",
            "for i in range(2): x[i] /= 2",
            "for row in list(x): row /= 2",
            "rows += [row for row in x]",
        ],
    )
    def test_other_loops_do_not_warn(self, program):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(program, {"x": flex.ones((2, 3)), "rows": []})

    def test_the_warning_is_a_user_warning_at_the_line(self):
        t = flex.zeros((2, 3))
        with pytest.warns(UserWarning, match="lost") as caught:
            t[0][1] = 5
        assert caught[0].filename == __file__


class TestNumbersAndDtypes:
    """The table "Conversions" of docs/values.md."""

    @pytest.mark.parametrize(
        "make",
        [
            lambda x, d: flex.asarray(x, dtype=d),
            lambda x, d: flex.asarray([x, x], dtype=d),
            lambda x, d: flex.full(2, x, dtype=d),
        ],
    )
    def test_numbers_must_fit_the_requested_dtype(self, make):
        assert flex.all(flex.equal(make(2.7, "int8"), 2))
        assert flex.all(flex.equal(make(-2.7, "int64"), -2))
        assert flex.all(make(2.5, "bool"))
        assert flex.all(flex.equal(make(3, "bfloat16"), 3))
        for x in (300, 300.0, -129.0, float("nan"), float("inf")):
            with pytest.raises(flex.RangeError, match="out of range for int8"):
                make(x, "int8")
        with pytest.raises(flex.DTypeError, match="imaginary part"):
            make(1 + 2j, "float32")
        assert flex.all(flex.isinf(make(1e300, "float32")))

    def test_assigned_numbers_must_fit_the_tensors_dtype(self):
        t = flex.zeros(3, dtype="int8")
        for x in (2.7, [2.7, 1, 1], np.float32(2.7), 1j):
            with pytest.raises(flex.DTypeError, match=r"^set: .*int8"):
                t[0:3] = x
        for x in (300, [300, 1, 1]):
            with pytest.raises(flex.RangeError, match="300 is out of range for int8"):
                t[0:3] = x
        t[0:3] = True
        assert t.tolist() == [1, 1, 1]

    def test_tensor_conversions_saturate_and_wrap(self):
        x = flex.asarray([300.0, -300.0, 2.7, -2.7, float("nan")], dtype="float64")
        for y in (
            x.astype("int8"),
            flex.asarray(x, dtype="int8"),
            flex.asarray(np.asarray(x), dtype="int8"),
        ):
            assert y.tolist() == [127, -128, 2, -2, 0]
        assert flex.asarray([300, -1]).astype("uint8").tolist() == [44, 255]

    @pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8", "uint64"])
    def test_complex_numbers_do_not_lose_their_imaginary_part_silently(self, dtype):
        z = flex.asarray([1 + 2j, 3])
        for convert in (
            lambda: z.astype(dtype),
            lambda: flex.asarray(z, dtype=dtype),
            lambda: flex.asarray(np.asarray(z), dtype=dtype),
            lambda: flex.sum(z, dtype=dtype),
            lambda: flex.asarray([1 + 2j, 3], dtype=dtype),
        ):
            with pytest.raises(flex.DTypeError, match="imaginary"):
                convert()
        assert flex.real(z).astype(dtype).tolist() == [1, 3]
        assert z.astype("bool").tolist() == [True, True]
