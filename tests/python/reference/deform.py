"""Deformable convolutions: their definition, evaluated with torch, which lacks the function (torchvision has it)."""

from . import Case, Input


def sampled(torch, x, offset, weight, mask, stride, padding, dilation):
    """The image sampled at every tap of every output by torch's grid_sample, times the weight."""
    (n, c, h, v), (_, seen, ky, kx) = x.shape, weight.shape
    taps, (oh, ow) = ky * kx, offset.shape[2:]
    groups = offset.shape[1] // (2 * taps)
    image = x.reshape(n * groups, c // groups, h, v)
    offset = offset.reshape(n * groups, taps, 2, oh, ow)
    mask = mask.reshape(n * groups, taps, 1, oh, ow)
    seen_by = []
    for t in range(taps):
        y = torch.arange(oh)[:, None] * stride - padding + t // kx * dilation + offset[:, t, 0]
        x = torch.arange(ow) * stride - padding + t % kx * dilation + offset[:, t, 1]
        grid = torch.stack([(2 * x + 1) / v - 1, (2 * y + 1) / h - 1], -1)
        part = torch.nn.functional.grid_sample(image, grid, align_corners=False) * mask[:, t]
        seen_by.append(part.reshape(n, c, oh, ow))
    columns = torch.stack(seen_by, 2).reshape(n, c // seen, seen, taps, oh, ow)
    weight = weight.reshape(c // seen, -1, seen, taps)
    return torch.einsum("ngctyx,gkct->ngkyx", columns, weight).reshape(n, -1, oh, ow)


def cases(name, x, w, places, groups, stride=1, padding=0, dilation=1):
    """The convolution with a mask and a bias, and its gradients; `groups` is the number of offset groups."""
    taps = groups * w[2] * w[3]
    inputs = {
        "x": x,
        "o": Input(values=offsets((x[0], 2 * taps, *places))),
        "w": w,
        "b": w[:1],
        "m": Input((x[0], taps, *places), 0.0, 1.0),
    }
    options = f"stride={stride}, padding={padding}, dilation={dilation}"
    call = f"sampled(torch, x, o, w, m, {stride}, {padding}, {dilation})"
    result = f"__import__('reference.deform').deform.{call} + b[:, None, None]"
    g = {"g": (x[0], w[0], *places)}
    return [
        Case(name, inputs, f"nn.deform_conv2d(x, o, w, b, mask=m, {options})", torch=result),
        Case(
            f"gradients, {name}",
            {**inputs, **g},
            f"nn.grad.deform_conv2d(g, x, o, w, m, {options})",
            torch=f"torch.autograd.grad({result}, (x, o, w, b, m), g)",
        ),
    ]


def offsets(shape):
    """Offsets from -2 to 2, odd multiples of 1/32: never integers, where slopes change."""
    numbers = Input(shape).array(7)
    return (numbers * 16).round() / 16 + 1 / 32


CASES = [
    *cases("3x3", (2, 4, 6, 7), (3, 4, 3, 3), (6, 7), 1, padding=1),
    *cases("groups of both", (1, 6, 7, 8), (4, 3, 2, 3), (4, 4), 3, stride=2, padding=1),
    *cases("dilation", (2, 2, 9, 8), (4, 1, 3, 2), (5, 6), 2, dilation=2),
]
