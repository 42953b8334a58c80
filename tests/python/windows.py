"""Windows over images: the sums of convolutions, pools and their gradients, in NumPy."""

import numpy as np


class Windows:
    """Random options of windows over images, sizes that they fit, and the elements that outputs see at each tap."""

    def __init__(self, w, rank, centred=False):
        def pick(*items):
            return tuple(w.pick(items) for _ in range(rank))

        tiles = rank == 2 and w.chance(0.2)  # sizes for which Winograd's algorithm is used
        self.kernel = (3,) * rank if tiles or w.chance(0.2) else pick(1, 2, 3, 4, 5)
        self.stride, self.dilation = pick(1, 1, 1, 2, 3), pick(1, 1, 1, 2)
        if tiles:
            self.stride = self.dilation = (1, 1)
        spans = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        pads = [
            (w.pick(range(k // 2 + 1)),) * 2 if centred else (w.pick([0, 1, 2]), w.pick([0, 1, 2]))
            for k in self.kernel
        ]
        sides = [1, 2, 3, 5, 8, 9, 14, 17] if rank > 1 else [1, 5, 17, 33, 130]
        sides = [9, 24, 27, 33] if tiles else sides[:5] if rank == 3 else sides
        self.sizes = tuple(
            max(w.pick(sides), span - sum(pad)) for span, pad in zip(spans, pads, strict=True)
        )
        self.padding, self.spans = tuple(pads), spans
        self.padded = tuple(n + sum(pad) for n, pad in zip(self.sizes, pads, strict=True))
        self.places = tuple(
            (n - span) // s + 1 for n, span, s in zip(self.padded, spans, self.stride, strict=True)
        )

    def taps(self, places):
        for tap in np.ndindex(*self.kernel):
            steps = zip(tap, self.dilation, places, self.stride, strict=True)
            yield (
                tap,
                (..., *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in steps)),
            )

    def pad(self, a, value=0):
        return np.pad(
            a, [(0, 0)] * (a.ndim - len(self.kernel)) + [*self.padding], constant_values=value
        )

    def inner(self, a):
        """The image without its padding."""
        cut = zip(self.padding, self.sizes, strict=True)
        return a[(..., *(slice(before, before + n) for (before, _), n in cut))]

    def gather(self, a, b, groups):
        """The sums of a convolution of padded images with the weight `b`."""
        a, b = grouped(a, groups), b.reshape(groups, -1, *b.shape[1:])
        y = np.zeros((len(a), groups, b.shape[1], *self.places), a.dtype)
        for tap, seen in self.taps(self.places):
            part = a[seen]
            y += (b[(..., *tap)] @ part.reshape(*part.shape[:3], -1)).reshape(y.shape)
        return y.reshape(len(a), -1, *self.places)

    def scatter(self, g, b, sizes, groups):
        """Images of these sizes, to which each element of `g` adds the weight times itself."""
        g, b = grouped(g, groups), b.reshape(groups, -1, *b.shape[1:])
        y = np.zeros((len(g), groups, b.shape[2], *sizes), g.dtype)
        for tap, seen in self.taps(g.shape[3:]):
            part = b[(..., *tap)].swapaxes(1, 2) @ g.reshape(*g.shape[:3], -1)
            y[seen] += part.reshape(*part.shape[:3], *g.shape[3:])
        return y.reshape(len(g), -1, *sizes)

    def weight(self, g, a, groups):
        """For each element of the weight, the sum over outputs of `g` times the element of the padded image that it sees."""
        g, a = grouped(g, groups), grouped(a, groups)
        y = np.zeros((groups, g.shape[2], a.shape[2], *self.kernel))
        flat = g.reshape(*g.shape[:3], -1)
        for tap, seen in self.taps(self.places):
            part = a[seen].reshape(*a.shape[:3], -1)
            y[(..., *tap)] = (flat @ part.swapaxes(-1, -2)).sum(0)
        return y.reshape(-1, *y.shape[2:])


def grouped(a, groups):
    """The channel axis, split into groups."""
    return a.reshape(len(a), groups, a.shape[1] // groups, *a.shape[2:])
