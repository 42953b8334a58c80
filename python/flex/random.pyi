# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, final

from flex._flex import Tensor, _DType, _Nested, _Operand, _Shape

@final
class Generator:
    """Draws random numbers, by the methods of NumPy's `Generator`. Made by `default_rng`.

    Bits are those of Philox 4x32-10 (Salmon et al. 2011), a bijection of a counter: a seed gives
    the same numbers on every machine, instruction set and number of threads. Numbers are not
    NumPy's. Element i of a result depends on the state and on i alone, so `random(10)` begins with
    the numbers of `random(4)`.

    size: the shape of the result, an integer or a tuple of them; by default that to which the
    parameters broadcast, `()` for numbers. dtype: of floats, float32 by default. Parameters are
    numbers or tensors. DTypeError for a dtype that the numbers don't have; ValueError for
    parameters out of their domain; ShapeError for those that don't broadcast to the size;
    MemoryError if there is not enough memory. The state is then unchanged, also if the handler of a
    signal raises an exception, which ends a long draw. Threads may share a generator. It can be copied and pickled.

    >>> rng = flex.random.default_rng(7)
    >>> rng.random((2, 3)).shape, rng.integers(0, 10, size=4).dtype
    ((2, 3), flex.int64)
    """
    @property
    def state(self) -> tuple[int, int, int, int]:
        """The state, as a tuple of integers: the key, the counter's highest word and its lowest 64
        bits, and how many generators were spawned. It can be assigned: TypeError or OverflowError
        for what is no state.
        """
    @state.setter
    def state(self, state: tuple[int, int, int, int], /) -> None:
        """The state, as a tuple of integers: the key, the counter's highest word and its lowest 64
        bits, and how many generators were spawned. It can be assigned: TypeError or OverflowError
        for what is no state.
        """
    def __copy__(self) -> Generator: ...
    def __deepcopy__(self, _memo: Any, /) -> Generator: ...
    def beta(self, a: _Operand, b: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the beta distribution, from 0 to 1. a and b must be positive (ValueError).

        >>> flex.random.default_rng(7).beta(2, 3, size=2).shape
        (2,)
        """
    def binomial(self, n: _Operand, p: _Operand, size: _Shape | None = None) -> Tensor:
        """How many of n trials of probability p succeed, as int64 (Hormann 1993). n must be an integer
        that is not negative, and p from 0 to 1 (ValueError).

        >>> flex.random.default_rng(7).binomial(5, 1.0, size=2).tolist()
        [5, 5]
        """
    def bytes(self, length: SupportsIndex) -> builtins.bytes:
        """Random bytes. ValueError if the length is negative.

        >>> len(flex.random.default_rng(7).bytes(10))
        10
        """
    def chisquare(self, df: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the chi-square distribution with df degrees of freedom, which must be positive
        (ValueError).

        >>> flex.random.default_rng(7).chisquare(3, size=2).shape
        (2,)
        """
    def choice(self, a: _Nested, size: _Shape | None = None, replace: builtins.bool = True, p: _Operand | None = None, axis: SupportsIndex = 0, shuffle: builtins.bool = True) -> Tensor:
        """Parts of the tensor a along an axis, chosen at random; or for an integer a, integers below
        it, as int64.

        size: how many, or the shape in which they take the axis's place; by default a single one.
        replace: whether one may be chosen several times. p: the probability of each, in one
        dimension, by default the same for all; one of probability 0 is never chosen. The order is
        random, whether or not shuffle asks for that. ValueError if there are too few to choose from,
        or p has a negative number or doesn't sum to 1; ShapeError if it has another number of them.

        >>> rng = flex.random.default_rng(7)
        >>> rng.choice(flex.asarray([10, 20, 30]), 3, replace=False).sum().item()
        60
        """
    def dirichlet(self, alpha: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Vectors of the Dirichlet distribution, of positive numbers that sum to 1: `[*size, n]`, for
        alpha of shape `[n]` (ShapeError), which must be positive (ValueError).

        >>> flex.random.default_rng(7).dirichlet(flex.ones(3), size=(4, 2)).shape
        (4, 2, 3)
        """
    def exponential(self, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Exponentially distributed floats of mean scale, which must not be negative (ValueError).

        >>> flex.random.default_rng(7).exponential(flex.asarray([0.5, 100.0])).shape
        (2,)
        """
    def f(self, dfnum: _Operand, dfden: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the F distribution: the ratio of two chi-square variables, each divided by its degrees of freedom, which must be positive
        (ValueError).

        >>> flex.random.default_rng(7).f(3, 8, size=2).shape
        (2,)
        """
    def gamma(self, shape: _Operand, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Gamma-distributed floats of this shape parameter and scale. The shape must be finite, and
        neither may be negative (ValueError).

        >>> flex.random.default_rng(7).gamma(2.0, 0.0, size=2).tolist()
        [0.0, 0.0]
        """
    def geometric(self, p: _Operand, size: _Shape | None = None) -> Tensor:
        """The number of trials of probability p up to the first that succeeds, as int64. p must be
        above 0 and at most 1 (ValueError).

        >>> flex.random.default_rng(7).geometric(1.0, size=2).tolist()
        [1, 1]
        """
    def gumbel(self, loc: _Operand = 0.0, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Gumbel distribution: loc - scale log(-log(u)), u uniform from 0 to 1. scale must
        not be negative (ValueError).

        >>> flex.random.default_rng(7).gumbel(5, 0, size=2).tolist()
        [5.0, 5.0]
        """
    def hypergeometric(self, ngood: _Operand, nbad: _Operand, nsample: _Operand, size: _Shape | None = None) -> Tensor:
        """How many of nsample elements, drawn from ngood good and nbad bad ones without putting any back,
        are good, as int64. They must be integers from 0 to 10**9, and nsample not exceed the elements
        (ValueError).

        >>> flex.random.default_rng(7).hypergeometric(5, 0, 3, size=2).tolist()
        [3, 3]
        """
    def integers(self, low: _Operand, high: _Operand | None = None, size: _Shape | None = None, dtype: _DType | None = None, endpoint: builtins.bool = False) -> Tensor:
        """Integers evenly distributed from low to high, which is left out unless endpoint is set; from
        0 to low if it is the only one. Without bias, by Lemire's method (2019).

        dtype: an integer dtype or bool, int64 by default. ValueError if low is not below high, or
        the dtype doesn't hold the integers (RangeError).

        >>> dice = flex.random.default_rng(7).integers(1, 6, size=1000, endpoint=True)
        >>> dice.min().item(), dice.max().item()
        (1, 6)
        """
    def jumped(self, jumps: SupportsIndex = 1) -> Generator:
        """The generator as it would be after jumps times 2^96 blocks of 128 bits, which no program
        draws. ValueError for negative jumps, OverflowError for jumps beyond 2^32.

        >>> rng = flex.random.default_rng(7)
        >>> rng.jumped().jumped(2).state == rng.jumped(3).state
        True
        """
    def laplace(self, loc: _Operand = 0.0, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Laplace distribution: exponentially distributed on both sides of loc. scale must
        not be negative (ValueError).

        >>> flex.random.default_rng(7).laplace(5, 0, size=2).tolist()
        [5.0, 5.0]
        """
    def logistic(self, loc: _Operand = 0.0, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the logistic distribution: loc + scale log(u / (1 - u)), u uniform from 0 to 1.
        scale must not be negative (ValueError).

        >>> flex.random.default_rng(7).logistic(5, 0, size=2).tolist()
        [5.0, 5.0]
        """
    def lognormal(self, mean: _Operand = 0.0, sigma: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats whose logarithm is normally distributed, with this mean and standard deviation. sigma
        must not be negative (ValueError).

        >>> flex.random.default_rng(7).lognormal(0, 0, size=2).tolist()
        [1.0, 1.0]
        """
    def logseries(self, p: _Operand, size: _Shape | None = None) -> Tensor:
        """Integers of the logarithmic series distribution, int64: k from 1 on with a probability in proportion to `p**k / k`. p must be from 0
        to 1, which is left out (ValueError). Kemp's algorithm LS (1981).

        >>> flex.random.default_rng(7).logseries(0.0, size=3).tolist()
        [1, 1, 1]
        """
    def multinomial(self, n: _Operand, pvals: _Operand, size: _Shape | None = None) -> Tensor:
        """How often each outcome occurs in n trials, as int64 of shape `[*size, outcomes]`. pvals: the
        outcomes' probabilities, along the last axis, which sum to 1 (ValueError). n and the other
        dimensions of pvals broadcast, to `size` if it is given.

        >>> flex.random.default_rng(7).multinomial(9, flex.asarray([0.5, 0.5]), size=4).sum(axis=1).tolist()
        [9, 9, 9, 9]
        """
    def multivariate_hypergeometric(self, colors: _Operand, nsample: SupportsIndex, size: _Shape | None = None, method: str = 'marginals') -> Tensor:
        """How many elements of each color are among nsample ones, drawn from colors of each without
        putting any back, as int64 of shape `[*size, n]`, for colors of shape `[n]` (ShapeError).
        They must be integers from 0 to 10**9 as must be their sum, which nsample must not exceed.
        method: "marginals" or "count", which make no difference (ValueError for both).

        >>> rng = flex.random.default_rng(7)
        >>> rng.multivariate_hypergeometric([8, 4, 1], 6, size=3).sum(axis=1).tolist()
        [6, 6, 6]
        """
    def multivariate_normal(self, mean: _Operand, cov: _Operand, size: _Shape | None = None, check_valid: Literal['raise', 'warn', 'ignore'] = 'raise', tol: float = 1e-08, *, method: Literal['cholesky', 'eigh', 'svd'] = 'cholesky', dtype: _DType | None = None) -> Tensor:
        """Normally distributed vectors, `[*size, n]`, of a mean `[n]` and a covariance `[n, n]` (ShapeError), which must be symmetric without
        negative eigenvalues.

        check_valid: whether a covariance that is not raises a ValueError, the default, a RuntimeWarning, or nothing. tol: how far elements and
        eigenvalues may be off; Cholesky's factor has its own, the rounding of the dtype, unless the check is left out. method: how the
        covariance is factored; "cholesky" then needs positive eigenvalues (LinAlgError). ValueError for another method or check.

        >>> rng = flex.random.default_rng(7)
        >>> rng.multivariate_normal(flex.ones(2), flex.eye(2), size=5).shape
        (5, 2)
        >>> rng.multivariate_normal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], 3, method="eigh").shape
        (3, 2)
        """
    def negative_binomial(self, n: _Operand, p: _Operand, size: _Shape | None = None) -> Tensor:
        """The failures before n successes of probability p, as int64. n must be positive, p above 0 and
        at most 1, and int64 hold the integers (ValueError).

        >>> flex.random.default_rng(7).negative_binomial(5, 1.0, size=2).tolist()
        [0, 0]
        """
    def noncentral_chisquare(self, df: _Operand, nonc: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the noncentral chi-square distribution with df degrees of freedom, which must be
        positive: the sum of squares of normal variables, the squares of whose means add to nonc, which
        must not be negative (ValueError).

        >>> flex.random.default_rng(7).noncentral_chisquare(3, 2, size=2).shape
        (2,)
        """
    def noncentral_f(self, dfnum: _Operand, dfden: _Operand, nonc: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the noncentral F distribution: the ratio of a noncentral chi-square variable and a
        chi-square variable, each divided by its degrees of freedom, which must be positive. nonc must
        not be negative (ValueError).

        >>> flex.random.default_rng(7).noncentral_f(3, 8, 2, size=2).shape
        (2,)
        """
    def normal(self, loc: _Operand = 0.0, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Normally distributed floats of mean loc and standard deviation scale, which must not be
        negative (ValueError).

        >>> means = flex.asarray([0.0, 100.0])
        >>> flex.random.default_rng(7).normal(means, 0.5).shape
        (2,)
        """
    def pareto(self, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Pareto II or Lomax distribution of shape a, from 0 on, which must be positive (ValueError). One more is Pareto's own
        distribution, with its mode at 1.

        >>> flex.random.default_rng(7).pareto(3, size=2).shape
        (2,)
        """
    def permutation(self, x: _Nested, axis: SupportsIndex = 0) -> Tensor:
        """The parts of x along an axis in random order, each whole; or for an integer x the integers
        below it, as int64.

        AxisError if the axis is out of range.

        >>> flex.random.default_rng(7).permutation(5).sort().tolist()
        [0, 1, 2, 3, 4]
        """
    def permuted(self, x: _Nested, *, axis: SupportsIndex | None = None) -> Tensor:
        """The elements of each line of x along an axis in random order, each line in another; without
        an axis, of all elements.

        AxisError if the axis is out of range.

        >>> flex.random.default_rng(7).permuted(flex.asarray([[1, 2], [3, 4]]), axis=1).sum(axis=1).tolist()
        [3, 7]
        """
    def poisson(self, lam: _Operand = 1.0, size: _Shape | None = None) -> Tensor:
        """Poisson-distributed integers of mean lam, as int64 (Hormann 1993). lam must not be negative,
        nor so large that int64 can't hold the integers (ValueError).

        >>> flex.random.default_rng(7).poisson(0, size=2).tolist()
        [0, 0]
        """
    def power(self, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats from 0 to 1 of density `a x**(a - 1)`. a must be positive (ValueError).

        >>> flex.random.default_rng(7).power(3, size=2).shape
        (2,)
        """
    def random(self, size: _Shape | None = None, dtype: _DType | None = None) -> Tensor:
        """Floats evenly distributed from 0 to 1, which is left out: multiples of 2^-24 for float32, of
        2^-53 for float64, of 2^-11 for float16 and of 2^-8 for bfloat16.

        >>> x = flex.random.default_rng(7).random(1000)
        >>> ((x >= 0) & (x < 1)).all().item()
        True
        """
    def rayleigh(self, scale: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Rayleigh distribution, the length of two normal variables of this standard deviation, which must not be negative
        (ValueError).

        >>> flex.random.default_rng(7).rayleigh(0.0, size=2).tolist()
        [0.0, 0.0]
        """
    def shuffle(self, x: Tensor, axis: SupportsIndex = 0) -> None:
        """Puts the parts of the tensor x along an axis in random order, in place.

        TypeError for what is no Tensor; AxisError if the axis is out of range.

        >>> x = flex.asarray([1, 2, 3])
        >>> flex.random.default_rng(7).shuffle(x)
        >>> x.sum().item()
        6
        """
    def spawn(self, n_children: SupportsIndex) -> list[Generator]:
        """New generators, whose numbers are unrelated to each other's and to this one's: each call
        makes others. ValueError if n_children is negative.

        >>> a, b = flex.random.default_rng(7).spawn(2)
        >>> a.integers(10**9).item() == b.integers(10**9).item()
        False
        """
    def standard_cauchy(self, size: _Shape | None = None, dtype: _DType | None = None) -> Tensor:
        """Floats of the Cauchy distribution of mode 0: the ratio of two normal variables.

        >>> flex.random.default_rng(7).standard_cauchy((2, 3)).shape
        (2, 3)
        """
    def standard_exponential(self, size: _Shape | None = None, dtype: _DType | None = None) -> Tensor:
        """Exponentially distributed floats of mean 1.

        >>> (flex.random.default_rng(7).standard_exponential(1000) > 0).all().item()
        True
        """
    def standard_gamma(self, shape: _Operand, size: _Shape | None = None, dtype: _DType | None = None) -> Tensor:
        """Gamma-distributed floats of this shape parameter and scale 1 (Marsaglia and Tsang 2000). The
        shape must be finite and not negative (ValueError).

        >>> flex.random.default_rng(7).standard_gamma(2.0, size=(2, 3)).shape
        (2, 3)
        """
    def standard_normal(self, size: _Shape | None = None, dtype: _DType | None = None) -> Tensor:
        """Normally distributed floats of mean 0 and variance 1: by the method of Box and Muller (1958)
        in float64, rounded once.

        >>> flex.random.default_rng(7).standard_normal((2, 3), dtype=flex.float64).dtype
        flex.float64
        """
    def standard_t(self, df: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of Student's t distribution with df degrees of freedom, which must be positive (ValueError). By Bailey's polar method (1994),
        with an angle in place of the rejection.

        >>> flex.random.default_rng(7).standard_t(3, size=2).shape
        (2,)
        """
    def triangular(self, left: _Operand, mode: _Operand, right: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats from left to right, whose density rises to that at the mode and falls from there. ValueError unless left <= mode <= right and
        left < right.

        >>> x = flex.random.default_rng(7).triangular(-1, 0, 3, size=1000)
        >>> ((x >= -1) & (x <= 3)).all().item()
        True
        """
    def uniform(self, low: _Operand = 0.0, high: _Operand = 1.0, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats evenly distributed from low to high, which is left out unless they are equal.

        ValueError if high is less than low, or their difference is not finite.

        >>> x = flex.random.default_rng(7).uniform(-1, 1, size=1000)
        >>> ((x >= -1) & (x < 1)).all().item()
        True
        """
    def vonmises(self, mu: _Operand, kappa: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Angles of the von Mises distribution around mu, from -pi to pi: evenly distributed for a kappa
        of 0, the narrower the larger it is (Best and Fisher 1979). mu must be finite, and kappa not
        negative (ValueError).

        >>> flex.random.default_rng(7).vonmises(0.0, 4.0, size=2).shape
        (2,)
        """
    def wald(self, mean: _Operand, scale: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Wald or inverse Gaussian distribution of this mean and scale, which must be positive (ValueError). By the method of
        Michael, Schucany and Haas (1976), with the square of a normal variable from two others.

        >>> flex.random.default_rng(7).wald(3, 2, size=2).shape
        (2,)
        """
    def weibull(self, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
        """Floats of the Weibull distribution of shape a and scale 1. a must not be negative (ValueError).

        >>> flex.random.default_rng(7).weibull(0.0, size=2).tolist()
        [0.0, 0.0]
        """
    def zipf(self, a: _Operand, size: _Shape | None = None) -> Tensor:
        """Integers of the Zipf or zeta distribution, as int64: k from 1 on with a probability in
        proportion to `k**-a`. a must be above 1 (ValueError).

        >>> flex.random.default_rng(7).zipf(3, size=2).shape
        (2,)
        """

def default_rng(seed: SupportsIndex | Generator | None = None) -> Generator:
    """A generator of random numbers.

    seed: an integer that is not negative (ValueError), of any size; by default one from the
    operating system. A Generator is returned as it is. TypeError for anything else.

    >>> a, b = flex.random.default_rng(7), flex.random.default_rng(7)
    >>> flex.all(a.random(5) == b.random(5)).item()
    True
    """
def rand(*size: SupportsIndex | Sequence[SupportsIndex], dtype: _DType | None = None) -> Tensor:
    """Floats evenly distributed from 0 to 1, which is left out: those of `Generator.random`, with its dtypes and errors.

    >>> flex.random.rand(2, 3).shape
    (2, 3)
    """
def randint(low: _Operand, high: _Operand | None = None, size: _Shape | None = None, *, dtype: _DType | None = None) -> Tensor:
    """Integers from low to high, which is left out: those of `Generator.integers`, with its dtypes and errors.

    >>> flex.random.randint(1, 7, (2, 3)).shape
    (2, 3)
    """
def randn(*size: SupportsIndex | Sequence[SupportsIndex], dtype: _DType | None = None) -> Tensor:
    """Normally distributed floats of mean 0 and variance 1: those of `Generator.standard_normal`, with its dtypes and errors.

    >>> flex.random.randn(2, 3).shape
    (2, 3)
    """
def randperm(n: SupportsIndex, *, dtype: _DType | None = None) -> Tensor:
    """The integers from 0 to n, which is left out, in random order. dtype: int64 by default. Errors are those of `Generator.permutation`.

    >>> flex.random.randperm(4).sort().tolist()
    [0, 1, 2, 3]
    """
def seed(seed: SupportsIndex | None = None) -> None:
    """Starts the module's generator anew, which `rand`, `randn`, `randint` and `randperm` draw from.

    seed: as for `default_rng`, with its errors.

    >>> flex.random.seed(7)
    >>> x = flex.random.randn(3)
    >>> flex.random.seed(7)
    >>> (flex.random.randn(3) == x).all().item()
    True
    """

__all__ = [
    "Generator",
    "default_rng",
    "rand",
    "randint",
    "randn",
    "randperm",
    "seed",
]
