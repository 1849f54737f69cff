"""The page in a browser: it loads nothing, and what can be clicked works."""

import base64
import csv
import io
import json
import shutil
import time

import numpy as np
import pytest
from support.results import write_experiment

from rfbench.reports.html.collect import collect
from rfbench.reports.html.page import report_page

webdriver = pytest.importorskip("selenium.webdriver")
PROGRAMS = [shutil.which(name) for name in ("chromium", "chromedriver")]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(PROGRAMS), reason="chromium or chromedriver is missing: apt-get install chromium-driver"
    ),
]
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1280,900",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SKETCHES = ("rademacher", "tensorsrht", "<img src=x onerror=document.title='owned'>", "</script><script>alert(1)//")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" style="fill: #ffffff"/></svg>'


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """An experiment of two datasets and four sketches, two of them hostile, and its figure."""
    place, rng = tmp_path_factory.mktemp("results"), np.random.default_rng(0)
    names = [(dataset, sketch) for dataset in ("digits", "wine") for sketch in SKETCHES]
    write_experiment(place / "first", names, rng)
    (place / "first" / "figure.svg").write_text(SVG)
    (place / "report.html").write_text(report_page(collect(place), []))
    return place / "report.html"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = PROGRAMS[0]
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(PROGRAMS[1]))
    found.set_script_timeout(30)
    yield found
    found.quit()


class View:
    """The page as a reader sees it."""

    def __init__(self, driver, page):
        self.driver, self.page = driver, page

    def open(self, fragment="", width=1280, dark=False):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        self.media("", dark)
        self.driver.get("about:blank")
        self.driver.get(f"{self.page.as_uri()}{fragment}")
        self.js("document.querySelector('section.experiment').scrollIntoView()")
        self.until("return document.querySelector('section.experiment').dataset.ready")
        return self

    def media(self, kind, dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, wanted=None):
        """Wait until a script returns what is wanted, or anything that is true."""
        end = time.monotonic() + 30
        while not ((found := self.js(script)) if wanted is None else (found := self.js(script)) == wanted):
            assert time.monotonic() < end, (script, found)
            time.sleep(0.05)
        return found

    def choose(self, name, value):
        self.js(
            "const e = document.querySelector(`form.selectors [name='${arguments[0]}']`);"
            "if (e.type === 'checkbox') e.checked = arguments[1]; else e.value = arguments[1];"
            "e.dispatchEvent(new Event('change'))", name, value,
        )  # fmt: skip

    def column(self, number):
        """The texts of a column of the table."""
        cells = f"section.experiment table.lines tbody tr td:nth-child({number})"
        return self.js(f"return [...document.querySelectorAll('{cells}')].map((cell) => cell.textContent)")

    def search(self, words):
        self.js(
            "const e = document.querySelector('section.experiment input[type=search]'); e.value = arguments[0];"
            "e.dispatchEvent(new Event('input', {bubbles: true}))", words,
        )  # fmt: skip

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def drawn(self, what):
        return self.js(f"const plot = document.querySelector('.plot'); return {what}")


@pytest.fixture
def view(driver, page):
    driver.get_log("browser")
    return View(driver, page)


def test_it_loads_without_an_error_and_without_a_request(view, driver):
    driver.get_log("performance")
    view.open()
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert view.page.as_uri() in asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "chrome:", "about:"))] == []
    assert driver.get_log("browser") == []
    assert driver.title.startswith("results")  # a hostile name would have set another
    assert view.js("return document.querySelectorAll('img, table script').length") == 0


def test_tables_are_sorted_filtered_and_shown_in_the_plot(view):
    view.open()
    assert len(view.column(1)) == 24
    view.click("table.lines thead th:nth-child(3)")
    view.click("table.lines thead th:nth-child(3)")
    view.until("return document.querySelector('table.lines tbody td:nth-child(3)').textContent", "256")
    assert view.column(3) == sorted(view.column(3), key=int, reverse=True)
    assert len(view.drawn("plot.data")) == 8
    view.search("wine tensorsrht")
    view.until("return document.querySelectorAll('table.lines tbody tr').length", 3)
    view.until("return document.querySelector('.plot').data.length", 1)
    assert "first-table" in view.driver.current_url


def test_a_column_has_a_filter_of_its_own(view):
    view.open()
    view.click("table.lines thead th:nth-child(2) .dtcc-button_dropdown")
    field = view.until("return document.querySelector('.dtcc-dropdown input')")
    field.send_keys("tensorsrht")
    view.until("return document.querySelectorAll('table.lines tbody tr').length", 6)
    assert set(view.column(2)) == {"tensorsrht"}
    again = view.driver.current_url.partition("#")[2]
    view.open(f"#{again}")
    assert set(view.column(2)) == {"tensorsrht"}


def test_selectors_are_in_the_address_and_the_address_makes_the_view(view):
    view.open()
    view.choose("x", "transform_seconds")
    view.choose("panel", "nothing")
    view.choose("Pareto front", True)
    view.choose("log y", False)
    view.until("return document.querySelector('.plot').layout.xaxis.title.text", "transform [s]")
    fragment = view.driver.current_url.partition("#")[2]
    view.search("wine")
    view.until("return location.hash.includes('wine')")
    view.open(f"#{fragment}")
    assert view.drawn("plot.layout.xaxis.title.text") == "transform [s]"
    assert view.drawn("plot.layout.yaxis.type") == "linear"
    assert view.drawn("[plot.layout.yaxis2 ?? null, plot.data.at(-1).name]") == [None, "Pareto front"]
    front = np.array(view.drawn("[plot.data.at(-1).x, plot.data.at(-1).y]"))
    points = np.concatenate(
        [np.array([t["x"], t["y"]]).T for t in view.drawn("plot.data.slice(0, -1).map(({x, y}) => ({x, y}))")]
    )
    best = [p for p in points if not ((points <= p).all(1) & (points < p).any(1)).any()]
    assert sorted(map(tuple, front.T)) == sorted(map(tuple, best))
    view.click("#reset")
    view.until("return document.readyState === 'complete' && location.hash === ''")


def test_colours_and_hover(view):
    view.open()
    view.choose("colour", "dataset")
    view.until("return new Set(document.querySelector('.plot').data.map((t) => t.name)).size", 2)
    text = view.drawn("plot.data[0].text[0]")
    assert "rfbench dataset=digits" in text.replace("<br>  ", " ")
    names = {trace["legendgroup"] for trace in view.open().drawn("plot.data.map(({legendgroup}) => ({legendgroup}))")}
    assert names == {name.replace("<", "&lt;").replace(">", "&gt;") for name in SKETCHES}


def test_commands_are_copied_and_tables_downloaded(view, driver, tmp_path):
    view.open()
    button = driver.find_element("css selector", "tr[data-row='3'] button.copy")
    view.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()  # by the mouse: a browser copies for a reader, not for a script
    view.until("return document.querySelector('#status').textContent", "Copied")
    view.js("document.body.insertAdjacentHTML('beforeend', '<textarea id=paste></textarea>')")
    area = driver.find_element("id", "paste")
    area.send_keys(webdriver.Keys.CONTROL, "v")
    row = [view.column(k)[3] for k in (1, 2, 3)]
    assert area.get_attribute("value").startswith(f"rfbench dataset={row[0]} ")
    assert f" features={row[2]} " in area.get_attribute("value")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    view.search("wine")
    view.until("return document.querySelectorAll('table.lines tbody tr').length", 12)
    for kind, ending in (("csv", "csv"), ("json", "json"), ("latex", "tex")):
        view.js("document.querySelector('select.format').value = arguments[0]", kind)
        view.click("button.download")
        end = time.monotonic() + 20
        while not (tmp_path / f"first.{ending}").exists() and time.monotonic() < end:
            time.sleep(0.05)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "first.csv").read_text())))
    assert {line["dataset"] for line in lines} == {"wine"}
    rows = json.loads((tmp_path / "first.json").read_text())
    means = [row["metrics"]["rel_frobenius"]["mean"] for row in rows]
    assert [float(line["rel_frobenius"]) for line in lines] == means
    latex = (tmp_path / "first.tex").read_text()
    assert latex.startswith(r"\begin{tabular}")
    assert latex.count("Wine &") == len(lines) == 12


def test_all_contests_fit_into_a_window(view):
    """The names of two sketches are long; every column of the margins is in sight."""
    view.open()
    view.js("document.querySelector('#margins').scrollIntoView()")
    view.until("return document.querySelector('.dt-container #margins')")
    region = "const region = document.querySelector('#margins').closest('.scroll'); return region"
    assert view.js(f"{region}.scrollWidth") == view.js(f"{region}.clientWidth") > 1100


def test_dark_mode_print_and_narrow_screens(view, driver):
    view.open(dark=True)
    assert view.js("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    assert view.drawn("plot.layout.font.color") == "#e8e8ea"
    assert view.js("return getComputedStyle(document.querySelector('figure rect')).fill") == "rgb(22, 24, 28)"
    view.media("print", dark=True)
    visible = "return getComputedStyle(document.querySelector(arguments[0])).display !== 'none'"
    assert [view.js(visible, part) for part in ("figure svg", "table.lines", ".plot", "nav")] == [
        True,
        True,
        False,
        False,
    ]
    assert view.js("return getComputedStyle(document.querySelector('.scroll')).maxHeight") == "none"
    assert view.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 10_000
    view.open(width=390)
    assert view.js("return document.documentElement.scrollWidth") <= 390


def test_without_scripts_the_numbers_are_there(view, driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(view.page.as_uri())
        table = driver.find_element("css selector", "section.experiment table.lines")
        assert "±" in table.text
        assert driver.find_element("css selector", "figure svg").is_displayed()
        assert not driver.find_element("css selector", "form.selectors").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
