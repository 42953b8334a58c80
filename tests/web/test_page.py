"""The page of examples/web in a browser: digits that it draws, digits drawn by hand, the benchmark."""

import json
import math
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, served

PICTURES = Path(__file__).resolve().parents[2] / "target" / "web-test"
PREDICTION = "document.getElementById('prediction').dataset.digit"

# Strokes in a box of 10 x 10 as different people draw them, other than the page's own.
HAND = [
    (0, [[(5, 0), (2, 1), (1, 4), (1.5, 8), (4, 10), (7, 9.5), (8.5, 6), (8, 2), (5.5, 0)]]),
    (1, [[(5, 0), (5, 10)]]),
    (1, [[(3, 2.5), (6, 0), (5.5, 5), (5, 10)]]),
    (2, [[(1, 2), (3, 0), (6, 0), (8, 2), (7, 5), (4, 8), (1, 10), (9, 10)]]),
    (3, [[(1, 1), (4, 0), (7, 1), (7, 3.5), (4, 5), (7.5, 6), (8, 8.5), (5, 10), (1, 9)]]),
    (4, [[(3, 0), (1.5, 6), (8.5, 6)], [(6.5, 3), (6, 10)]]),
    (5, [[(8, 0), (3, 0), (2.5, 4), (6, 4), (8, 6.5), (6.5, 9.5), (2, 10)]]),
    (6, [[(6.5, 0), (3, 3), (2, 7), (3.5, 10), (7, 9.5), (7.5, 6.5), (5, 5.5), (2.3, 7.5)]]),
    (7, [[(1, 0), (8.5, 0), (5.5, 5), (4, 10)]]),
    (
        8,
        [
            [
                (7, 1),
                (4, 0),
                (2, 2),
                (4.5, 4.7),
                (7.5, 7.5),
                (5, 10),
                (2, 8),
                (4, 5.3),
                (7, 2.5),
                (7, 1),
            ]
        ],
    ),
    (9, [[(7.5, 2), (5, 0), (2.5, 1.5), (3, 4.5), (6, 4.7), (7.5, 2), (7.3, 6), (6.5, 10)]]),
]


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


def start(tmp_path_factory: pytest.TempPathFactory, url: str, *flags: str) -> Browser:
    PICTURES.mkdir(parents=True, exist_ok=True)
    browser = Browser(
        os.environ["CHROMIUM"],
        [
            f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
            "--window-size=1040,1240",
            *flags,
        ],
    )
    browser.open(url)
    browser.wait("document.documentElement.dataset.ready")
    return browser


@pytest.fixture(scope="module")
def page(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with start(tmp_path_factory, url) as browser:
        yield browser
        assert browser.complaints == []


def box(page: Browser) -> tuple[float, float, float]:
    """The pad: left, top and side."""
    x, y, side = page.run(
        "(({ x, y, width }) => [x, y, width])(document.getElementById('pad').getBoundingClientRect())"
    )
    return x, y, side


def draw(
    page: Browser, strokes: list[list[tuple[float, float]]], scale: float, dx: float, dy: float
) -> None:
    """Draws with the mouse: the box of 10 x 10 takes the part `scale` of the pad, at (dx, dy) from its corner."""
    left, top, side = box(page)
    page.run("document.getElementById('clear').click()")
    for stroke in strokes:
        page.draw(
            [
                (left + side * (dx + scale * x / 10), top + side * (dy + scale * y / 10))
                for x, y in stroke
            ]
        )
    page.run("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")


def test_loads_the_simd_build(page: Browser):
    assert page.run("document.documentElement.dataset.ready") == "yes"
    assert "simd128" in page.run("document.getElementById('loaded').textContent")


@pytest.mark.parametrize("digit", range(10))
def test_reads_the_digits_that_it_draws(page: Browser, digit: int):
    page.run(f"document.querySelectorAll('#examples button')[{digit}].click()")
    page.wait("document.getElementById('pad').dataset.drawn === 'yes'")
    page.picture(PICTURES / f"digit-{digit}.png")
    assert page.run(PREDICTION) == str(digit)


@pytest.mark.parametrize(
    ("scale", "dx", "dy"), [(0.7, 0.15, 0.15), (0.25, 0.05, 0.7)], ids=["large", "small"]
)
@pytest.mark.parametrize(
    ("digit", "strokes"), HAND, ids=[f"{digit}-{i}" for i, (digit, _) in enumerate(HAND)]
)
def test_reads_hand_drawn_digits(
    page: Browser, digit: int, strokes: list, scale: float, dx: float, dy: float
):
    draw(page, strokes, scale, dx, dy)
    assert page.run(PREDICTION) == str(digit)
    bars = page.run(
        "Array.from(document.querySelectorAll('#bars li'), (bar) => parseFloat(bar.lastChild.textContent))"
    )
    assert bars.index(max(bars)) == digit
    assert sum(bars) == pytest.approx(100, abs=2)


def variant(strokes: list, numbers: random.Random) -> list:
    """The strokes as another person might draw them: slanted, stretched, rotated and jittered."""
    slant, stretch, turn = (
        numbers.gauss(0, 0.12),
        math.exp(numbers.gauss(0, 0.15)),
        numbers.gauss(0, 0.06),
    )

    def place(x: float, y: float) -> tuple[float, float]:
        x, y = x + numbers.gauss(0, 0.3), y + numbers.gauss(0, 0.3)
        return stretch * x - (slant + turn) * y, y + turn * x

    return [[place(x, y) for x, y in stroke] for stroke in strokes]


def test_reads_variants_of_hand_drawn_digits(page: Browser):
    numbers = random.Random(1)
    drawings = [(digit, variant(strokes, numbers)) for digit, strokes in HAND for _ in range(20)]
    page.run("""(async () => {
        const [{ load }, { pixels }] = await Promise.all([import("./load.js"), import("./pixels.js")]);
        const classifier = new (await load("scalar")).Digits();
        globalThis.read = (strokes) => {
            const probabilities = classifier.probabilities(pixels(strokes));
            return probabilities.indexOf(Math.max(...probabilities));
        };
    })()""")
    got = page.run(f"{json.dumps([strokes for _, strokes in drawings])}.map(read)")
    right = [digit == prediction for (digit, _), prediction in zip(drawings, got, strict=True)]
    print(f"{sum(right)} of {len(right)} drawings")
    assert sum(right) >= 0.93 * len(right), [
        (digit, got) for (digit, _), got in zip(drawings, got, strict=True) if digit != got
    ]


def test_clear_empties_the_page(page: Browser):
    draw(page, HAND[0][1], 0.7, 0.15, 0.15)
    page.run("document.getElementById('clear').click()")
    page.wait(f"{PREDICTION} === ''")
    assert page.run("document.querySelectorAll('.best').length") == 0


def test_benchmark(page: Browser):
    page.run("document.getElementById('measure').click()")
    page.wait("document.getElementById('results').dataset.results")
    results = page.run("JSON.parse(document.getElementById('results').dataset.results)")
    assert len(results) == 2, results
    for result in results:
        assert set(result["ms"]) == {"simd128", "scalar", "plain"}
        assert all(ms > 0 for ms in result["ms"].values())
        print(result["title"], {way: f"{ms:.3g} ms" for way, ms in result["ms"].items()})
    draw(page, HAND[3][1], 0.7, 0.15, 0.15)
    page.picture(PICTURES / "page.png")


def test_falls_back_without_simd(url: str, tmp_path_factory: pytest.TempPathFactory):
    with start(tmp_path_factory, url, "--js-flags=--no-enable-sse4-1") as page:
        assert "without vectors" in page.run("document.getElementById('loaded').textContent")
        draw(page, HAND[3][1], 0.7, 0.15, 0.15)
        assert page.run(PREDICTION) == "2"
        assert page.complaints == []
