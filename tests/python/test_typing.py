"""What mypy says of a user's code: names that flex lacks, calls that fail, and the types of what flex gives back."""

import re
import sys

from mypy import api

# A comment names the errors of its line by mypy's codes, in order; `revealed` is the type that reveal_type shows.
CODE = """\
from typing import Protocol

import flex
from flex import fft, linalg, nn, quant, signal


class ForeignDType:  # as NumPy's and torch's
    itemsize: int = 4


x = flex.zeros((2, 3))
# a missing name is an error, and what follows is still checked
linalg.schur(x)  # E: attr-defined
flex.linalg.polar(x)  # E: attr-defined
fft.dft(x)  # E: attr-defined
nn.Module()  # E: attr-defined
nn.grad.linearr(x)  # E: attr-defined
quant.quantise(x)  # E: attr-defined
signal.ellip(x)  # E: attr-defined
flex.io.loads("x.npy")  # E: attr-defined
flex.unsqueeze(x, 0)  # E: attr-defined
reveal_type(flex.einsum("ij->ji", x))  # revealed: flex._flex.Tensor
reveal_type(flex.einsum(x, [0, 1], [1, ...], optimize="greedy"))  # revealed: flex._flex.Tensor
x.unsqueeze(0)  # E: attr-defined
flex.sum(x, dims=0)  # E: call-arg
reveal_type(flex.linalg.inv(x))  # revealed: flex._flex.Tensor
reveal_type(flex.linalg.qr(x).R)  # revealed: flex._flex.Tensor
reveal_type(flex.linalg.matmul(x, x))  # revealed: flex._flex.Tensor

# a shape is one argument
flex.zeros(2, 3)  # E: arg-type
flex.ones(2, 3)  # E: arg-type
flex.empty(2, 3)  # E: arg-type
flex.full(2, 3, 7)  # E: arg-type
flex.zeros((2, 3), flex.int8)
flex.zeros([2, 3], "f4")
flex.zeros(3, float)
flex.zeros(3, dtype=ForeignDType())
x.astype(bool)
x.astype(2)  # E: arg-type
flex.zeros_like(x, dtype=1.5)  # E: arg-type


# fuse keeps the function's type
@flex.fuse
def plain(a: flex.Tensor, scale: float = 1.0) -> flex.Tensor:
    return a * scale


@flex.fuse(strict=True, donate=[0])
def both(a: flex.Tensor, *, b: flex.Tensor) -> tuple[flex.Tensor, flex.Tensor]:
    return a + b, a - b


class Layer:
    weight: flex.Tensor

    @flex.fuse
    def forward(self, a: flex.Tensor, scale: float) -> flex.Tensor:
        return a * self.weight * scale


reveal_type(plain(x))  # revealed: flex._flex.Tensor
reveal_type(plain(x, scale=2.0))  # revealed: flex._flex.Tensor
reveal_type(both(x, b=x))  # revealed: tuple[flex._flex.Tensor, flex._flex.Tensor]
reveal_type(Layer().forward(x, 2.0))  # revealed: flex._flex.Tensor
reveal_type(flex.fuse(lambda a: a)(x))  # revealed: Any
plain(x, out=x)
both(x, b=x, out=(x, x))
plain()  # E: call-overload
plain(x, scale="2")  # E: call-overload
both(x, x)  # E: call-overload
Layer().forward(x)  # E: call-overload
Layer().forward(x, "2")  # E: call-overload
flex.fuse(3)  # E: call-overload


class Network(Protocol):
    def __call__(self, a: flex.Tensor) -> flex.Tensor: ...


network: Network = plain
"""
LINE = re.compile(r"user\.py:(\d+): (error|note): (.*)")


def test_a_users_code(tmp_path):
    path = tmp_path / "user.py"
    path.write_text(CODE, encoding="utf-8")
    options = ["--strict", "--no-error-summary", "--no-incremental", "--show-error-codes"]
    options += ["--python-executable", sys.executable, "--cache-dir", str(tmp_path / "cache")]
    shown, failed, _ = api.run([*options, str(path)])
    assert not failed
    errors, revealed = {}, {}
    for line in shown.splitlines():
        number, kind, text = LINE.search(line).groups()
        if kind == "error":
            errors.setdefault(int(number), []).append(text.rpartition("[")[2].rstrip("]"))
        elif text.startswith("Revealed type is"):
            revealed[int(number)] = text.split('"')[1].replace("builtins.", "")
    lines = list(enumerate(CODE.splitlines(), 1))
    assert errors == {n: line.split("# E: ")[1].split() for n, line in lines if "# E: " in line}
    wanted = {n: line.split("# revealed: ")[1] for n, line in lines if "# revealed: " in line}
    assert revealed == wanted
