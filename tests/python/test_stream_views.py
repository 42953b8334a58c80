"""Views of queued values, and layers in a stream: results have the bits, shapes and strides of eager operations."""

import threading

import numpy as np
import pytest
from test_fuse_programs import same

import flex
from flex import nn


class TestViews:
    """A view of a queued value is queued too, and elementwise operations read through it."""

    X = flex.reshape(flex.linspace(-3, 3, 40 * 60), (40, 60))

    def both(self, f):
        """Asserts that a function gives the same result eagerly and in a stream; returns the number of passes in the stream."""
        expected = f()
        with flex.stream() as s:
            got = f()
        same((got,), (expected,))
        assert got.strides == expected.strides
        return s.stats()["kernels"]

    @pytest.mark.parametrize(
        "view",
        [
            *(lambda x: x.T, lambda x: x.mT, lambda x: x[:, ::2], lambda x: x[::-1, 5:7]),
            *(lambda x: x[3], lambda x: x[..., -1], lambda x: x[2, 3], lambda x: x[None, :, None]),
            *(lambda x: x.reshape(20, -1), lambda x: flex.reshape(x, (2400,))),
            *(lambda x: flex.flip(x, axis=0), lambda x: flex.moveaxis(x, 0, 1)),
            *(lambda x: flex.expand_dims(x, axis=1), lambda x: flex.squeeze(x[None])),
            *(lambda x: flex.permute_dims(x, (1, 0)), lambda x: flex.swapaxes(x, 0, 1)),
            *(lambda x: x.T[::3].T, lambda x: flex.transpose(x)),
        ],
    )
    def test_views_are_fused_into_one_pass(self, view):
        assert self.both(lambda: view(self.X * 2) + 1) == 1

    def test_a_reshape_that_needs_a_copy(self):
        assert self.both(lambda: (self.X * 2).T.reshape(3, -1) + 1) == 3

    def test_repeated_elements_are_computed_once(self):
        walks = self.both(lambda: flex.broadcast_to(flex.exp(self.X[0]), (40, 60)) + self.X)
        assert walks == 2

    def test_a_transposed_operand_is_materialised(self):
        y = self.X.T.copy()
        assert self.both(lambda: (self.X * 2).T + y) == 2

    def test_reductions_match_eager_ones(self):
        self.both(lambda: flex.sum((self.X * 2)[:, 3:40], axis=1))
        self.both(lambda: flex.sum((self.X * 2).T + 1, axis=0))
        self.both(lambda: flex.sum((self.X * 2).T))

    @pytest.mark.parametrize("shape", [(40, 60), (3, 7, 5)])
    def test_restored_axes_match_keepdims(self, shape):
        x = flex.reshape(flex.arange(float(np.prod(shape))) % 17, shape)

        def norm(put, **keep):
            mean = put(flex.mean(x, axis=-1, **keep))
            square = put(flex.mean((x - mean) ** 2, axis=-1, **keep))
            return (x - mean) / flex.sqrt(square + 1e-5)

        def softmax(put, **keep):
            e = flex.exp(x - put(flex.max(x, axis=-1, **keep)))
            return e / put(flex.sum(e, axis=-1, **keep))

        for f in (norm, softmax):
            kept = self.both(lambda f=f: f(lambda m: m, keepdims=True))
            for put in (
                lambda m: m[..., None],
                lambda m: flex.expand_dims(m, axis=-1),
                lambda m: m.reshape(*shape[:-1], 1),
            ):
                assert self.both(lambda f=f, put=put: f(put)) == kept

    def test_a_reduction_and_its_view_are_both_used(self):
        with flex.stream() as s:
            mean = flex.mean(self.X, axis=1)
            y = self.X - mean[:, None]
        assert s.stats()["kernels"] == 2
        same((mean, y), (flex.mean(self.X, axis=1), self.X - flex.mean(self.X, axis=1)[:, None]))

    def test_only_viewed_elements_are_computed(self):
        x = flex.ones((1000, 8))
        with flex.stream() as s:
            y = flex.exp(x * 2)[7] + 1
        assert s.stats()["bytes_read"] == s.stats()["bytes_written"] == 32
        assert y.shape == (8,)

    def test_views_do_not_count_as_operations(self):
        with flex.stream() as s:
            y = (self.X + 1).T[::2]
            assert s.stats()["operations"] == 1
        assert y.strides == (self.X + 1).T[::2].strides

    def test_errors_come_from_the_line_that_is_wrong(self):
        with flex.stream() as s:
            y = self.X + 1
            for wrong, error in [
                (lambda: y[40], IndexError),
                (lambda: y[1, 2, 3], IndexError),
                (lambda: y.reshape(7, 7), flex.ShapeError),
                (lambda: flex.squeeze(y, axis=0), flex.ShapeError),
                (lambda: flex.permute_dims(y, (0, 0)), flex.AxisError),
                (lambda: flex.broadcast_to(y, (3, 3)), flex.ShapeError),
                (lambda: y[0].T, flex.ShapeError),
            ]:
                with pytest.raises(error):
                    wrong()
            assert s.stats()["kernels"] == 0
            assert flex.broadcast_to(y[:1, :1], (1 << 30, 1 << 20)).shape == (1 << 30, 1 << 20)

    def test_splits(self):
        for cut in (
            lambda x: flex.split(x, (10, 50), axis=1),
            lambda x: flex.chunk(x, 3),
            lambda x: flex.unstack(x)[:3],
            lambda x: flex.split(x, 7),
        ):
            expected = [part * 2 for part in cut(self.X + 1)]
            with flex.stream() as s:
                got = [part * 2 for part in cut(self.X + 1)]
                assert s.stats()["kernels"] == 0
            same(got, expected)
        with flex.stream():
            y = self.X + 1
            for wrong in (
                lambda: flex.split(y, (1, 2)),
                lambda: flex.chunk(y, 0),
                lambda: flex.unstack(y, axis=2),
            ):
                with pytest.raises(ValueError, match=r"split|chunk|axis"):
                    wrong()

    def test_empty_views(self):
        with flex.stream():
            assert ((self.X + 1)[5:5].T * 2).shape == (60, 0)

    def test_writes_do_not_affect_the_viewed_value(self):
        with flex.stream():
            y = self.X * 2
            row = y[0]
            row += 100
            y[1] = 5
            turned = y.T
        assert row[0].item() == self.X[0, 0].item() * 2 + 100
        assert (y[0, 0].item(), turned[3, 1].item()) == (self.X[0, 0].item() * 2, 5.0)

    def test_views_in_other_streams_and_threads(self):
        with flex.stream():
            y = self.X + 1
            with flex.stream() as inner:
                z = y.T * 2
            assert inner.stats()["operations"] == 1
            seen = []
            w = self.X + 2
            thread = threading.Thread(target=lambda: seen.append(w.T))
            thread.start()
            thread.join()
        same((z, seen[0]), ((self.X + 1).T * 2, (self.X + 2).T))

    def test_strided_operands(self):
        x = self.X.T[::2]
        assert self.both(lambda: (x * 2).T + 1) == 2
        assert self.both(lambda: flex.sum((x * 2).T[3:20] + 1, axis=0)) > 1

    def test_a_copy_of_the_same_dtype(self):
        x = self.X.T[::2, ::-1]
        self.both(lambda: flex.astype(x, "float32"))
        self.both(lambda: flex.sum(flex.astype(x, "float32"), axis=(0, 1)) + 1)

    def test_different_slices_share_a_plan(self, tmp_path):
        def plans():
            stream = flex.Stream()
            stream.save(tmp_path / "plans")
            return stream.load(tmp_path / "plans")

        before = plans()
        with flex.stream():
            for k in range(5):
                ((flex.sinh(self.X) * 3)[k : k + 4] + 1).tolist()
        assert plans() == before + 1

    def test_in_fused_functions(self):
        for f in (lambda x: (x * 2)[0] + 1, lambda x: x - flex.mean(x, axis=1)[:, None]):
            fused = flex.fuse(f)
            for x in (self.X, self.X.T[::2], self.X * 2):
                same((fused(x),), (f(x),))
        text = flex.explain(lambda x: x - flex.mean(x, axis=1)[:, None], self.X)
        assert "view" not in text
        text = flex.explain(lambda x: (x * 2)[0] + 1, self.X)
        assert text.splitlines() == ["view v0 of x0", "store v1 of v0: multiply, add", "returns v1"]


class TestLayers:
    """Linear layers and convolutions are queued, and the operations that follow run on blocks of their results."""

    def test_elementwise_operations_are_fused_into_the_layer(self):
        x, weight, bias = flex.ones((300, 64)), flex.ones((512, 64)), flex.ones(512)
        image, kernel = flex.ones((2, 8, 48, 48)), flex.ones((32, 8, 3, 3))
        signal = flex.ones((4, 64, 1000))
        for f in (
            lambda: flex.relu(nn.linear(x, weight, bias)) * 0.5 - 1,
            lambda: nn.linear(x, weight, bias, activation="gelu") * 2 + bias,
            lambda: flex.sigmoid(nn.conv2d(image, kernel, padding="same")),
            lambda: nn.conv1d(signal, signal[0, :, :64, None], padding=((1, 1),)) + 1,
        ):
            expected = f()
            with flex.stream() as s:
                got = f()
            same((got,), (expected,))
            assert s.stats()["bytes_written"] == got.nbytes

    def test_errors_come_from_the_line_that_is_wrong(self):
        x, image = flex.ones((3, 4)), flex.ones((1, 2, 5, 5))
        with flex.stream() as s:
            y = x + 1
            for wrong, error in [
                (lambda: nn.linear(y, flex.ones((3, 3))), flex.ShapeError),
                (lambda: nn.linear(y, x, flex.ones(2)), flex.ShapeError),
                (lambda: nn.linear(y, x, residual=flex.ones((2, 3))), flex.ShapeError),
                (lambda: nn.linear(y > 1, x > 1), flex.DTypeError),
                (lambda: nn.conv2d(image + 1, flex.ones((1, 1, 3, 3))), flex.ShapeError),
                (lambda: nn.conv2d(image + 1, flex.ones((1, 2, 7, 7))), flex.ShapeError),
            ]:
                with pytest.raises(error):
                    wrong()
            assert s.stats()["kernels"] == 0

    def test_plans_are_saved_and_loaded(self, tmp_path):
        image, kernel = flex.ones((1, 3, 9, 9)), flex.ones((4, 3, 3, 3))
        with flex.stream() as s:
            y = nn.conv2d(image, kernel, stride=(1, 2), padding=((1, 0), (2, 2)), dilation=2)
            z = nn.linear(
                y.reshape(-1, y.shape[-1]), flex.ones((2, y.shape[-1])), activation="silu"
            )
            z.tolist()
        s.save(tmp_path / "plans")
        assert s.load(tmp_path / "plans") > 0

    def test_different_image_sizes(self):
        kernel = flex.ones((4, 3, 3, 3))
        with flex.stream():
            for n in (9, 11, 9):
                y = nn.conv2d(flex.ones((2, 3, n, n + 1)), kernel) + 1
                assert y.shape == (2, 4, n - 2, n - 1)
                assert y[0, 0, 0, 0].item() == 28.0
