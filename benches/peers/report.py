"""The record of a comparison as text, as rows and as a chart."""

from __future__ import annotations

import csv
import io
import math
import statistics
from typing import TYPE_CHECKING, Any

from .levels import FREE, LEVELS, NATIVE
from .reasons import reason
from .roofline import Ceiling, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = dict[str, Any]

UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def readable(seconds: float | None) -> str:
    """The time with three digits and a unit."""
    if seconds is None:
        return "–"
    unit, size = next((pair for pair in UNITS if seconds >= pair[1]), UNITS[-1])
    value = seconds / size
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def fastest(row: Row) -> str | None:
    """The fastest library other than flex."""
    return min(
        (name for name in row["seconds"] if name != "flex"), key=row["seconds"].get, default=None
    )


def ratio(row: Row) -> float | None:
    """The ratio of flex's time to that of the fastest other library."""
    best = fastest(row)
    return (
        row["seconds"]["flex"] / row["seconds"][best] if best and "flex" in row["seconds"] else None
    )


def mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of the known values."""
    known = [value for value in values if value]
    return statistics.geometric_mean(known) if known else None


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else "< 1%" if value < 0.01 else f"{value:.0%}"


def _columns(rows: list[Row]) -> list[str]:
    return sorted(
        {name for row in rows for name in row["seconds"]},
        key=lambda name: (name != "flex", name not in ("numpy", "torch"), name),
    )


def table(rows: list[Row], ceiling: Ceiling | None, family: str) -> str:
    """A family as a Markdown table."""
    names = _columns(rows)

    def fraction(row: Row) -> list[str]:
        return [_percent(ceiling.fraction(row))] if ceiling else []

    heads = [
        family,
        *names,
        "flex / best",
        "target",
        *(["of ceiling"] if ceiling else []),
        "memory",
    ]
    lines = [_line(heads), "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        cells = [readable(row["seconds"].get(name)) for name in names]
        fresh = f" + {row['fresh']} fresh" if row.get("fresh") else ""
        held = (readable_bytes(row["held"]) if row.get("held") else "–") + fresh
        lines.append(
            _line(
                [
                    row["name"],
                    *cells,
                    _figure(ratio(row)),
                    _figure(row["goal"]),
                    *fraction(row),
                    held,
                ]
            )
        )
    part = [_percent(mean(map(ceiling.fraction, rows)))] if ceiling else []
    lines.append(
        _line(
            [
                "**geometric mean**",
                *[""] * len(names),
                f"**{_figure(mean(map(ratio, rows)))}**",
                _figure(mean(row["goal"] for row in rows)),
                *part,
                "",
            ]
        )
    )
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def figures(record: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of all levels, flat, as COMPARISON.csv has them: seconds of each library, and what follows from them."""
    rows = []
    for level, known in record["levels"].items():
        ceiling = Ceiling.of(known)
        for family, measured in known["families"].items():
            rows += [
                {
                    "level": level,
                    "family": family,
                    "workload": row["name"],
                    "ratio": ratio(row),
                    "target": row["goal"],
                    "ceiling": ceiling.fraction(row) if ceiling else None,
                    "held": row.get("held"),
                    "fresh": row.get("fresh"),
                    "seconds": row["seconds"],
                }
                for row in measured
            ]
    return rows


def rows_as_csv(rows: list[dict[str, Any]]) -> str:
    """COMPARISON.csv: a line for each row of each level; seconds, and bytes that a call of flex holds beyond its inputs."""
    names = _columns(rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    known = ["flex / best", "target", "of ceiling", "memory", "fresh"]
    writer.writerow(["level", "family", "workload", *names, *known])

    def digits(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}"

    for row in rows:
        writer.writerow(
            [row["level"], row["family"], row["workload"]]
            + [digits(row["seconds"].get(name)) for name in names]
            + [digits(row["ratio"]), digits(row["target"]), digits(row["ceiling"])]
            + [row["held"] or "", row["fresh"] or ""]
        )
    return text.getvalue()


def summary(rows: list[dict[str, Any]]) -> str:
    """A line for each family, with columns for each level."""
    levels = list(dict.fromkeys(row["level"] for row in rows))
    heads = ["family"]
    body = {row["family"]: [row["family"]] for row in rows}
    for level in levels:
        prefix = "" if level == NATIVE else f"{LEVELS[level]}: "
        heads += [prefix + head for head in ("flex / best", "ahead", "of ceiling")]
        for family, cells in body.items():
            mine = [row for row in rows if (row["level"], row["family"]) == (level, family)]
            ratios = [row["ratio"] for row in mine if row["ratio"]]
            cells += [
                f"**{_figure(mean(ratios))}**",
                f"{sum(value < 1 for value in ratios)} of {len(ratios)}",
                _percent(mean(row["ceiling"] for row in mine)),
            ]
    return "\n".join(
        [_line(heads), "|---|" + "---:|" * (len(heads) - 1), *map(_line, body.values())]
    )


PAR = 1.05  # up to here, two libraries are as fast as each other


def behind(rows: list[dict[str, Any]]) -> str:
    """The rows behind the fastest other library by more than runs differ, worst first."""
    late = sorted((row for row in rows if (row["ratio"] or 0) > 1), key=lambda row: -row["ratio"])
    if not late:
        return "In no row."
    listed = [row for row in late if row["ratio"] > PAR]
    heads = ["workload", "flex", "fastest", "flex / best", "of ceiling", "reason"]
    lines = [_line(heads), "|---|---:|---:|---:|---:|---|"]
    for row in listed:
        best = fastest(row)
        workload = f"{row['family']}: {row['workload']}"
        cells = [
            workload,
            readable(row["seconds"]["flex"]),
            f"{best} {readable(row['seconds'][best])}",
            f"{row['ratio']:.2f}",
            _percent(row["ceiling"]),
            reason(workload, row["ceiling"]) or "not examined",
        ]
        lines.append(_line(cells))
    count = sum(1 for row in rows if row["ratio"])
    near = f"in {len(late) - len(listed)} of them by less than {round((PAR - 1) * 100)} %, which is what two runs differ by"
    if not listed:
        return f"In {len(late)} of {count} rows, {near}."
    return f"In {len(late)} of {count} rows, {near}; the others:\n\n" + "\n".join(lines)


def libraries(rows: list[dict[str, Any]]) -> str:
    """A line for each library: the rows in which both took part, and how its times compare with flex's."""
    heads = [
        "",
        "rows",
        "flex is faster in",
        "its time / flex's",
        "best family for flex",
        "best family for it",
    ]
    lines = [_line(heads), "|---|---:|---:|---:|---|---|"]
    for name in _columns(rows):
        shared = [row for row in rows if {name, "flex"} <= row["seconds"].keys()]
        if name == "flex" or not shared:
            continue
        times: dict[str, list[float]] = {}
        for row in shared:
            times.setdefault(row["family"], []).append(
                row["seconds"][name] / row["seconds"]["flex"]
            )
        means = {family: mean(taken) for family, taken in times.items()}
        most, least = max(means, key=means.get), min(means, key=means.get)
        every = [value for taken in times.values() for value in taken]
        lines.append(
            _line(
                [
                    name,
                    str(len(every)),
                    str(sum(value > 1 for value in every)),
                    f"{mean(every):.2f}",
                ]
                + [f"{family} ({means[family]:.2f})" for family in (most, least)]
            )
        )
    return "\n".join(lines)


def _offers(libraries: dict[str, Any], versions: dict[str, str]) -> str:
    """Size, import and dtypes of each library."""
    heads = [
        "",
        "version",
        "installed",
        "with what it requires",
        "import",
        "dtypes with arithmetic",
        "of these, with matrix products",
    ]
    lines = [_line(heads), "|---|---|---:|---:|---:|---|---|"]
    for name, known in libraries.items():
        arithmetic, products = known["dtypes"]
        without = [dtype for dtype in arithmetic if dtype not in products]
        cells = [
            readable_bytes(known["bytes"]),
            readable_bytes(known["bytes_with_requirements"]),
            f"{max(known['import_ms'], 0):.0f} ms",
        ]
        cells.append(f"{len(arithmetic)}: {_short(arithmetic)}" if arithmetic else "–")
        cells.append(
            "–" if not products else "all" if not without else f"all but {_short(without)}"
        )
        lines.append(_line([name, versions.get(name, "–"), *cells]))
    return "\n".join(lines)


def _short(dtypes: list[str]) -> str:
    return " ".join(dtypes)


DOCUMENT = """# flex and other libraries

Written by `benches/compare.py`: all figures were measured, none is copied from elsewhere. [{csv}]({csv}) has every
row: the seconds of each library, flex's target, and the memory of a call.

- CPU: {cpu}; {caches}
- {system}, Python {python}, {threads} threads for each library
- {versions}

## Summary

*flex / best* is the ratio of flex's time to that of the fastest other library in a row, and for a family the geometric mean of its rows:
below 1 flex is faster. *Ahead* counts the rows in which it is.
{held}
{summary}
{ceilings}
{behind}

## Sizes

![Time of flex over sizes from 2^8 to 2^26 elements, as a share of the fastest of NumPy and PyTorch](benches/sizes.svg)

`benches/sweep.py` draws this; its machine is named there. It also lists cliffs, sizes at which flex is behind between two at which it is
ahead.

## Library by library

The rows that flex and a library both computed, at the machine's own level. Above 1, flex is faster.

{libraries}
{offers}
## How to repeat it

```sh
make comparison
```

takes less than an hour. It is `benches/compare.py --isa native --isa avx2 --roofline --facts --markdown COMPARISON.md --chart
benches/speed.svg`, with what is installed in `.venv`; others take part once they are installed (`.venv/bin/pip install torch jax numexpr
onnxruntime onnx openvino`). `make compare ARGS='--only math --match exp'` measures some rows and prints their tables.

Each library runs in its own process, and the others are stopped while it is timed. Results are first checked against NumPy's in float64.
Times are medians of {rounds} in steady state, called from Python; JAX is compiled by `jit`; onnxruntime and OpenVINO run a model of
the row's operators, which contains the weights, on inputs in place. In the rows, *memory* is the peak of bytes that a call of flex
allocates in addition to its inputs, if that is more than the rounding of small blocks, and *fresh* counts the blocks that a repeated call
still requested from the system. `benches/peers/reasons.py` has the reasons above.
"""
HELD = """
Most machines have no AVX-512. *{name}* is the same comparison with every library limited to it by its own setting, flex by `FLEX_ISA`;
{free} have none and do not take part.
"""
CEILINGS = """
*Of ceiling* is the fraction that flex reaches of what this machine can do (`benches/peaks.rs`): a workload takes at least the time of its
arithmetic at the peak rate, and at least the time to read its inputs and write its result once. Elementary functions, sorts, scans and
small calls count only as memory traffic: there the figure compares the work with a plain copy.

{lines}
"""
OFFERS = """
{table}

Sizes are those of the files that `pip install` installs on this machine. Import is the time added to a fresh interpreter. A dtype counts if
`a + a` or `a @ a` of 2x2 ones works and keeps the dtype; numexpr, onnxruntime and OpenVINO have no such functions, since they evaluate
expressions or graphs, and SciPy takes NumPy's arrays.
"""


def _titled(title: str, level: str) -> str:
    return title if level == NATIVE else f"{title}, {LEVELS[level]}"


def document(record: dict[str, Any], rows: list[dict[str, Any]], csv_name: str) -> str:
    """COMPARISON.md, from the record and its `figures`."""
    machine, known = record["machine"], record["levels"]
    ceilings = {level: ceiling for level, at in known.items() if (ceiling := Ceiling.of(at))}
    lines = [
        _titled("", level).removeprefix(", ")
        + ("\n\n" if level != NATIVE else "")
        + "\n".join(c.lines())
        for level, c in ceilings.items()
    ]
    at_level = {level: [row for row in rows if row["level"] == level] for level in known}
    return DOCUMENT.format(
        csv=csv_name,
        cpu=machine["cpu"],
        caches=", ".join(f"{level} {size}" for level, size in machine["caches"].items()),
        system=machine["system"],
        python=machine["python"],
        threads=record["threads"],
        rounds="one round" if record["rounds"] == 1 else f"{record['rounds']} rounds",
        versions=", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        held="".join(
            HELD.format(name=LEVELS[level], free=" and ".join(FREE))
            for level in known
            if level != NATIVE
        ),
        summary=summary(rows),
        ceilings=CEILINGS.format(lines="\n\n".join(lines)) if ceilings else "",
        behind="\n\n".join(
            f"{_titled('## Where flex is behind', level)}\n\n{behind(measured)}"
            for level, measured in at_level.items()
        ),
        libraries=libraries(next(iter(at_level.values()))),
        offers=OFFERS.format(table=_offers(record["libraries"], record["versions"]))
        if "libraries" in record
        else "",
    )


COLOURS = {
    "numpy": "#4dabcf",
    "torch": "#ee4c2c",
    "jax": "#9b59b6",
    "onnxruntime": "#8a8a8a",
    "openvino": "#00a3a3",
}
STYLE = """text{font:12px system-ui,sans-serif;fill:#24292f}.note{font-size:11px;fill:#57606a}.bar{fill:#2da44e}.slow{fill:#d4a72c}
.line{stroke:#57606a}.grid{stroke:#d0d7de}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#8d96a0}.line{stroke:#8d96a0}
.grid{stroke:#30363d}.bar{fill:#3fb950}.slow{fill:#bb8009}}"""


LEFT, WIDTH, STEP, TOP = 170, 430, 22, 46
LOWEST, HIGHEST = 0.5, 16.0  # as multiples of flex's time


def chart(record: dict[str, Any]) -> str:
    """An SVG chart: for each family, the time of the fastest other library of each row and of each library, as multiples of flex's."""

    def x(times: float) -> float:
        return LEFT + WIDTH * math.log(min(max(times, LOWEST), HIGHEST) / LOWEST) / math.log(
            HIGHEST / LOWEST
        )

    known = next(iter(record["levels"].values()))["families"]
    families = {family: rows for family, rows in known.items() if mean(map(ratio, rows))}
    bottom, right = TOP + STEP * len(families), LEFT + WIDTH + 24
    parts = [
        text(8, 16, "Time of the others, flex = 1 (logarithmic; longer is better for flex)"),
        _bar("bar", 8, 25, 20, 9),
        text(32, 34, "the fastest of them in each row", "note"),
    ]
    at = 232
    for name, colour in COLOURS.items():
        parts += [_dot(at, 30, colour), text(at + 8, 34, name, "note")]
        at += 26 + 7 * len(name)
    times = LOWEST
    while times <= HIGHEST:
        at = f'x1="{x(times):.1f}" x2="{x(times):.1f}" y1="{TOP - 4}" y2="{bottom}"'
        parts += [
            f'<line class="{"line" if times == 1 else "grid"}" {at}/>',
            text(x(times), bottom + 14, f"{times:g}×", "note", "middle"),
        ]
        times *= 2
    for place, (family, rows) in enumerate(families.items()):
        y = TOP + STEP * place
        times = 1 / mean(map(ratio, rows))
        low, high = sorted((x(1), x(times)))
        parts += [
            text(LEFT - 8, y + 13, family, anchor="end"),
            _bar("bar" if times >= 1 else "slow", low, y + 3, max(high - low, 1), 13),
        ]
        for name, colour in COLOURS.items():
            seconds = [row["seconds"] for row in rows if {name, "flex"} <= row["seconds"].keys()]
            if alone := mean(taken[name] / taken["flex"] for taken in seconds):
                parts.append(_dot(x(alone), y + 9.5, colour))
    return svg(right, bottom + 24, parts)


def svg(width: int, height: int, parts: Iterable[str]) -> str:
    """A picture of these elements, in the colours of the reader's theme."""
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}><style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def text(x: float, y: float, words: str, kind: str = "name", anchor: str = "start") -> str:
    """Words, with the start, the middle or the end of their baseline at a place."""
    return f'<text class="{kind}" text-anchor="{anchor}" x="{x:.1f}" y="{y:g}">{words}</text>'


def _bar(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="2"/>'
    )


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle fill="{colour}" stroke="#fff" stroke-width=".7" cx="{x:.1f}" cy="{y}" r="4"/>'
