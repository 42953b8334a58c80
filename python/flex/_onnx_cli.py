"""The parts of the command `flex-cpu` that run ONNX models."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import flex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flex import Tensor
    from flex.onnx import Model, Step, Value

WIDTH = 30  # of a progress bar


def shown(value: Value) -> str:
    """An input or output: `x: float32 [n, 3]`."""
    sizes = (
        ""
        if value.shape is None
        else f" [{', '.join('?' if n is None else str(n) for n in value.shape)}]"
    )
    return f"{value.name}: {'any dtype' if value.dtype is None else value.dtype.name}{sizes}"


def description(path: str, model: Model) -> dict[str, Any]:
    """What `flex-cpu info model.onnx` prints."""
    return {
        "file": path,
        "bytes": os.path.getsize(path),
        "producer": model.producer,
        "opsets": {name or "ai.onnx": version for name, version in model.opsets.items()},
        "inputs": [shown(value) for value in model.inputs],
        "outputs": [shown(value) for value in model.outputs],
        "parameters": model.parameters,
        "operators": dict(sorted(model.operators.items(), key=lambda item: (-item[1], item[0]))),
    }


def print_description(about: dict[str, Any]) -> None:
    """Prints a description, a line an entry; a list has further lines."""
    for name, entry in about.items():
        if isinstance(entry, dict):
            entry = ", ".join(f"{key} {value}" for key, value in entry.items())
        lines = entry if isinstance(entry, list) else [entry]
        for k, line in enumerate(lines or ["none"]):
            title = f"{name}:" if k == 0 else ""
            print(f"{title:<12}{line if not isinstance(line, int) else f'{line:,}'}".rstrip())


def assigned(model: Model, texts: Sequence[str]) -> dict[str, list[str]]:
    """The files of each input: of `name=file`, or of files in the order of the inputs; all files of a model with one input are its
    own. ValueError if an input is unknown or has no file."""
    names = [value.name for value in model.inputs]
    files: dict[str, list[str]] = {}
    position = 0
    for text in texts:
        name, separator, file = text.partition("=")
        if not separator:
            name, file = names[min(position, len(names) - 1)] if names else "", text
            position += 1
        if name not in names:
            raise ValueError(f"--input {text}: the model's inputs are {', '.join(names) or 'none'}")
        files.setdefault(name, []).append(file)
    missing = [name for name in names if name not in files]
    if missing:
        raise ValueError(f"no --input for {', '.join(missing)}: some are missing")
    return files


def run_calls(
    model: Model, files: dict[str, list[str]], profile: list[Step] | None
) -> list[tuple[Tensor, ...]]:
    """The outputs of a call for each file of an input; an input with one file has it in each call."""
    count = max(map(len, files.values()), default=1)
    for name, list_ in files.items():
        if len(list_) not in (1, count):
            raise ValueError(f"input {name} has {len(list_)} files, another one {count}")
    results = []
    bar = count > 1 and sys.stderr.isatty()
    for k in range(count):
        inputs = {
            name: flex.io.load(list_[k if len(list_) > 1 else 0]) for name, list_ in files.items()
        }
        if profile is not None:
            profile.extend(model.profile(**inputs))
        outputs = model(**inputs)
        results.append(outputs if isinstance(outputs, tuple) else (outputs,))
        if bar:
            done = WIDTH * (k + 1) // count
            end = "\n" if k + 1 == count else ""
            print(
                f"\r[{'#' * done}{' ' * (WIDTH - done)}] {k + 1}/{count}",
                end=end,
                file=sys.stderr,
                flush=True,
            )
    return results


def named(model: Model, results: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
    """The outputs by name; of several calls with a number."""
    tensors = {}
    for k, outputs in enumerate(results):
        for value, output in zip(model.outputs, outputs, strict=True):
            tensors[value.name if len(results) == 1 else f"{value.name}.{k}"] = output
    return tensors


def print_profile(steps: list[Step]) -> None:
    """A table of operators by time."""
    times: dict[str, list[float]] = {}
    for step in steps:
        times.setdefault(step.operator, []).append(step.seconds)
    total = sum(map(sum, times.values())) or 1.0
    width = max(map(len, times), default=8)
    print(f"{'operator':<{width}}  {'calls':>6}  {'ms':>10}  {'share':>6}", file=sys.stderr)
    for name, list_ in sorted(times.items(), key=lambda item: -sum(item[1])):
        seconds = sum(list_)
        print(
            f"{name:<{width}}  {len(list_):>6}  {1e3 * seconds:>10.3f}  {seconds / total:>6.1%}",
            file=sys.stderr,
        )
