"""The record of a comparison as text and as a chart."""

from __future__ import annotations

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


def table(
    rows: list[Row], ceiling: Ceiling | None, others: dict[str, dict[str, Row]], family: str
) -> str:
    """A family as a Markdown table. `others`: its rows by name, for each further level."""
    names = _columns(rows)

    def fraction(row: Row) -> list[str]:
        return [_percent(ceiling.fraction(row))] if ceiling else []

    at = [f"at {LEVELS[level]}" for level in others]
    heads = [
        family,
        *names,
        "flex / best",
        *at,
        "target",
        *(["of ceiling"] if ceiling else []),
        "memory",
    ]
    lines = [_line(heads), "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        cells = [readable(row["seconds"].get(name)) for name in names]
        fresh = f" + {row['fresh']} fresh" if row.get("fresh") else ""
        held = (readable_bytes(row["held"]) if row.get("held") else "–") + fresh
        elsewhere = [
            _figure(ratio(known[row["name"]])) if row["name"] in known else "–"
            for known in others.values()
        ]
        lines.append(
            _line(
                [
                    row["name"],
                    *cells,
                    _figure(ratio(row)),
                    *elsewhere,
                    _figure(row["goal"]),
                    *fraction(row),
                    held,
                ]
            )
        )
    figures = [
        f"**{_figure(mean(map(ratio, rows)))}**",
        *(f"**{_figure(mean(map(ratio, known.values())))}**" for known in others.values()),
    ]
    part = [_percent(mean(map(ceiling.fraction, rows)))] if ceiling else []
    lines.append(
        _line(
            [
                "**geometric mean**",
                *[""] * len(names),
                *figures,
                _figure(mean(row["goal"] for row in rows)),
                *part,
                "",
            ]
        )
    )
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def summary(record: dict[str, Any]) -> str:
    """A row for each family, with columns for each level."""
    known = record["levels"]
    ceilings = {level: Ceiling.of(at) for level, at in known.items()}
    families = list(dict.fromkeys(family for at in known.values() for family in at["families"]))
    heads, body = ["family"], [[family] for family in families]
    for level, at in known.items():
        prefix = "" if level == NATIVE else f"{LEVELS[level]}: "
        ceiling = ceilings[level]
        heads += [
            prefix + head
            for head in (
                "flex / best",
                "target",
                "rows",
                "ahead",
                "within target",
                *(["of ceiling"] if ceiling else []),
            )
        ]
        for family, cells in zip(families, body, strict=True):
            rows = at["families"].get(family, [])
            ratios = [(value, row["goal"]) for row in rows if (value := ratio(row))]
            counts = [
                len(ratios),
                sum(value < 1 for value, _ in ratios),
                sum(value <= goal for value, goal in ratios),
            ]
            part = [_percent(mean(map(ceiling.fraction, rows)))] if ceiling else []
            cells += [
                f"**{_figure(mean(map(ratio, rows)))}**",
                _figure(mean(row["goal"] for row in rows)),
                *map(str, counts),
                *part,
            ]
    return "\n".join([_line(heads), "|---|" + "---:|" * (len(heads) - 1), *map(_line, body)])


def behind(families: dict[str, list[Row]]) -> str:
    """The rows in which another library is faster, worst first."""
    rows = sorted(
        (
            (value, row)
            for rows in families.values()
            for row in rows
            if (value := ratio(row)) and value > 1
        ),
        key=lambda pair: -pair[0],
    )
    if not rows:
        return "In no row."
    heads = ["workload", "flex", "fastest", "flex / best", "known"]
    lines = [_line(heads), "|---|---:|---:|---:|---|"]
    for value, row in rows:
        best = fastest(row)
        workload = f"{row['family']}: {row['name']}"
        cells = [
            workload,
            readable(row["seconds"]["flex"]),
            f"{best} {readable(row['seconds'][best])}",
            f"{value:.2f}",
            reason(workload),
        ]
        lines.append(_line(cells))
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

Written by `benches/compare.py`: all figures were measured, none is copied from elsewhere. To measure on your machine in less than an hour:

```sh
make comparison
```

That is `benches/compare.py --isa native --isa avx2 --roofline --facts --markdown COMPARISON.md --chart benches/speed.svg`, with what is
installed in `.venv`; others take part once they are installed (`.venv/bin/pip install torch jax numexpr onnxruntime onnx openvino`).

- CPU: {cpu}; {caches}
- {system}, Python {python}, {threads} threads for each library
- {versions}

Each library runs in its own process, and the others are stopped while it is timed. Results are first checked against NumPy's in float64.
Times are medians of {rounds} in steady state, called from Python; JAX is compiled by `jit`; onnxruntime and OpenVINO run a model of
the row's operators, which contains the weights, on inputs in place. *flex / best* is the ratio of flex's time to that of the fastest other
library in the row: below 1 flex is faster. *target* is the ratio that flex aims at. *memory* is the peak that a call of flex allocates in
addition to its inputs, if that is more than the rounding of small blocks; *fresh* counts the blocks that a repeated call still requested
from the system.
{held}
## Summary

{summary}
{ceilings}
{behind}
{offers}
## All workloads

{tables}
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
## What each library offers

{table}

Sizes are those of the files that `pip install` installs on this machine. Import is the time added to a fresh interpreter. A dtype counts if
`a + a` or `a @ a` of 2x2 ones works and keeps the dtype; numexpr, onnxruntime and OpenVINO have no such functions, since they evaluate
expressions or graphs, and SciPy takes NumPy's arrays.
"""


def _titled(title: str, level: str) -> str:
    return title if level == NATIVE else f"{title}, {LEVELS[level]}"


def document(record: dict[str, Any]) -> str:
    """COMPARISON.md."""
    machine, known = record["machine"], record["levels"]
    ceilings = {level: ceiling for level, at in known.items() if (ceiling := Ceiling.of(at))}
    first, *rest = known
    others = {
        level: {
            family: {row["name"]: row for row in rows}
            for family, rows in known[level]["families"].items()
        }
        for level in rest
    }
    lines = [
        _titled("", level).removeprefix(", ")
        + ("\n\n" if level != NATIVE else "")
        + "\n".join(c.lines())
        for level, c in ceilings.items()
    ]
    tables = [
        f"### {family.capitalize()}\n\n"
        + table(
            rows,
            ceilings.get(first),
            {level: at[family] for level, at in others.items() if family in at},
            family,
        )
        for family, rows in known[first]["families"].items()
    ]
    return DOCUMENT.format(
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
        summary=summary(record),
        ceilings=CEILINGS.format(lines="\n\n".join(lines)) if ceilings else "",
        behind="\n\n".join(
            f"{_titled('## Where flex is behind', level)}\n\n{behind(at['families'])}"
            for level, at in known.items()
        ),
        offers=OFFERS.format(table=_offers(record["libraries"], record["versions"]))
        if "libraries" in record
        else "",
        tables="\n\n".join(tables),
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
        _text(8, 16, "Time of the others, flex = 1 (logarithmic; longer is better for flex)"),
        _bar("bar", 8, 25, 20, 9),
        _text(32, 34, "the fastest of them in each row", "note"),
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        parts += [_dot(232 + 78 * place, 30, colour), _text(240 + 78 * place, 34, name, "note")]
    times = LOWEST
    while times <= HIGHEST:
        at = f'x1="{x(times):.1f}" x2="{x(times):.1f}" y1="{TOP - 4}" y2="{bottom}"'
        parts += [
            f'<line class="{"line" if times == 1 else "grid"}" {at}/>',
            _text(x(times), bottom + 14, f"{times:g}×", "note", "middle"),
        ]
        times *= 2
    for place, (family, rows) in enumerate(families.items()):
        y = TOP + STEP * place
        times = 1 / mean(map(ratio, rows))
        low, high = sorted((x(1), x(times)))
        parts += [
            _text(LEFT - 8, y + 13, family, anchor="end"),
            _bar("bar" if times >= 1 else "slow", low, y + 3, max(high - low, 1), 13),
        ]
        for name, colour in COLOURS.items():
            seconds = [row["seconds"] for row in rows if {name, "flex"} <= row["seconds"].keys()]
            if alone := mean(taken[name] / taken["flex"] for taken in seconds):
                parts.append(_dot(x(alone), y + 9.5, colour))
    box = f'width="{right}" height="{bottom + 24}" viewBox="0 0 {right} {bottom + 24}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}><style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, kind: str = "name", anchor: str = "start") -> str:
    return f'<text class="{kind}" text-anchor="{anchor}" x="{x:.1f}" y="{y}">{text}</text>'


def _bar(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="2"/>'
    )


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle fill="{colour}" stroke="#fff" stroke-width=".7" cx="{x:.1f}" cy="{y}" r="4"/>'
