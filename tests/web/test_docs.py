"""The pages of the documentation in a browser: links, scripts, requests, the search, narrow windows, both themes."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from browser import Browser, served

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
PICTURES = ROOT / "target" / "docs-test"
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html"))
DESKTOP, PHONE = (1280, 1000), (390, 844)
FOUND = """({
    links: [...document.querySelectorAll('a[href], link[href]')].map(a => a.href),
    ids: [...document.querySelectorAll('[id]')].map(e => e.id),
    broken: [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src),
    wide: document.documentElement.scrollWidth - innerWidth,
})"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    PICTURES.mkdir(parents=True, exist_ok=True)
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    with Browser(os.environ["CHROMIUM"], [profile]) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(browser: Browser, url: str) -> dict[str, dict]:
    """What is on each page, at the width of a phone."""
    browser.resize(*PHONE)
    browser.complaints.clear()
    browser.requests.clear()
    found = {}
    for page in PAGES:
        browser.open(url + page)
        found[url + page] = browser.run(FOUND)
    return found


def test_the_site_has_its_pages():
    expected = {"index", "getting-started", "values", "migration", "comparison", "api/nn-layers"}
    assert {f"{name}.html" for name in expected} <= set(PAGES)


def test_links_lead_to_pages_and_places_on_them(pages: dict[str, dict], url: str):
    ids = {page: set(found["ids"]) for page, found in pages.items()}

    def exists(target: str, anchor: str) -> bool:
        target += "index.html" if target.endswith("/") else ""
        if target in ids:
            return not anchor or unquote(anchor) in ids[target]
        return (SITE / unquote(target.removeprefix(url))).is_file()

    broken = []
    for page, found in pages.items():
        for link in found["links"]:
            target, anchor = urldefrag(link)
            if target.startswith(url):
                if not exists(target.partition("?")[0], anchor):
                    broken.append((page, link))
            else:
                assert target.startswith("https://"), (page, link)
    assert sum(len(found["links"]) for found in pages.values()) > 5000
    assert broken == []


def test_pictures_load_and_nothing_is_wider_than_a_phone(pages: dict[str, dict]):
    assert {page: f["broken"] for page, f in pages.items() if f["broken"]} == {}
    assert {page: f["wide"] for page, f in pages.items() if f["wide"] > 0} == {}


def test_scripts_run_and_no_other_machine_is_asked(
    pages: dict[str, dict], browser: Browser, url: str
):
    assert len(pages) > 40
    assert browser.complaints == []
    assert [r for r in browser.requests if not r.startswith((url, "data:"))] == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("softmax", "api/nn-activations.html#flex.nn.softmax"),
        ("masked_fill", "api/indexing.html#flex.masked_fill"),
        ("copy-on-write", "values.html"),
    ],
)
def test_the_search_finds(browser: Browser, url: str, words: str, found: str):
    browser.open(f"{url}search.html?q={words}")
    results = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    browser.wait(f"{results}.some(href => href.split('?')[0].startsWith('{url}{found[:6]}'))")
    assert any(
        link.replace("?highlight=" + words, "").startswith(url + found)
        for link in browser.run(results)
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "values", "getting-started", "api/nn-activations"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_text_stands_out_in_both_themes(
    browser: Browser, url: str, size: tuple[int, int], page: str, theme: str
):
    browser.resize(*size)
    browser.open(f"{url}{page}.html")
    browser.run(f"document.body.dataset.theme = '{theme}'")
    browser.picture(PICTURES / f"{page.replace('/', '-')}-{size[0]}-{theme}.png")
    colors = browser.run(
        "[getComputedStyle(document.querySelector('article p')).color, getComputedStyle(document.body).backgroundColor]"
    )
    text, behind = (sum(map(int, c[c.index("(") + 1 : -1].split(",")[:3])) for c in colors)
    assert abs(text - behind) > 300
