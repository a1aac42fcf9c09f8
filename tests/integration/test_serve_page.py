"""The page of `disambig serve` in a real Chromium: typing, mouse, keyboard, dark, a phone, hostile texts."""

from __future__ import annotations

import re
import shutil

import pytest
from running_server import running

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

TEXT = "She ate a peace of cake, and it was better then we hoped."


@pytest.fixture(scope="module")
def address():
    with running() as (port, _):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def browser():
    playwright.expect.set_options(timeout=20_000)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def is_problem(message):
    """Return True for an error message of the console, other than on an answer with status 503."""
    return message.type == "error" and "status of 503" not in message.text


@pytest.fixture
def opened(browser, address):
    """Open the page; in the end nothing has failed in it and nothing was loaded from elsewhere."""
    contexts, problems, urls = [], [], []

    def open_it(**settings):
        contexts.append(browser.new_context(**{"viewport": {"width": 1000, "height": 800}, **settings}))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: problems.append(message.text) if is_problem(message) else None)
        page.on("pageerror", lambda problem: problems.append(str(problem)))
        page.on("dialog", lambda dialog: problems.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request: urls.append(request.url))
        page.goto(address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert problems == []
    assert {url for url in urls if not url.startswith((f"{address}/", "data:"))} == set()


def write(page, text, flags=None):
    """Put a text into the box as if pasted, and wait until it was checked."""
    page.fill("#text", text)
    if flags is not None:
        playwright.expect(page.locator("#mirror mark")).to_have_text(flags)


def value(page):
    return page.input_value("#text")


def expect_status(page, words):
    playwright.expect(page.locator("#status")).to_contain_text(words)


def test_typed_mistakes_are_underlined(opened):
    page = opened()
    page.focus("#text")
    page.keyboard.type("She ate a peace of cake")
    playwright.expect(page.locator("#mirror mark")).to_have_text(["peace"])
    expect_status(page, "1 flag in 6 words")
    page.keyboard.type(", and it was better then that.")
    playwright.expect(page.locator("#mirror mark")).to_have_text(["peace", "then"])
    playwright.expect(page.locator("#flags button")).to_contain_text(["piece", "than"])
    for _ in range(80):
        page.keyboard.press("Backspace")
    playwright.expect(page.locator("#flags button")).to_have_count(0)
    assert value(page) == ""


@pytest.mark.slow
def test_underlines_move_with_the_words_while_the_server_is_asked(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    page.route("**/v2/check", lambda route: None)
    page.focus("#text")
    page.keyboard.press("Control+Home")
    page.keyboard.type("Well, well: ")
    assert page.locator("#mirror mark").all_inner_texts() == ["peace", "then"]
    page.keyboard.press("Control+End")
    for _ in range(len("n we hoped.")):
        page.keyboard.press("Backspace")
    assert page.locator("#mirror mark").all_inner_texts() == ["peace"]


def test_a_click_on_a_word_shows_why_and_a_click_accepts(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    spot = page.locator("#mirror mark").first.bounding_box()
    page.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    card = page.get_by_role("dialog")
    playwright.expect(card).to_contain_text("Did you mean “piece” in place of “peace”?")
    playwright.expect(card).to_contain_text(re.compile(r'"a? ?piece of( cake)?" was seen|fits this context'))
    playwright.expect(card).to_contain_text(
        re.compile(r"confused-words; (\d+ %|about \d in 10) of such flags were right")
    )
    assert len(re.findall(r"\d+ %|\d in 10", card.inner_text())) == 1  # one number
    assert card.get_by_role("link").get_attribute("href") == "/rules#confused-words"
    evidence = card.locator("details p")
    playwright.expect(evidence).to_be_hidden()
    card.get_by_text("Why?").click()
    playwright.expect(evidence).to_be_visible()
    card.get_by_role("button", name="piece").click()
    assert value(page) == TEXT.replace("peace", "piece")
    playwright.expect(card).to_be_hidden()
    playwright.expect(page.locator("#mirror mark")).to_have_text(["then"])
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+z")
    assert value(page) == TEXT
    playwright.expect(page.locator("#mirror mark")).to_have_text(["peace", "then"])


def test_all_suggestions_are_accepted_at_once_and_the_text_is_copied(opened):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    playwright.expect(page.get_by_role("button", name="Accept all")).to_be_disabled()
    write(page, TEXT, ["peace", "then"])
    page.get_by_role("button", name="Accept all").click()
    right = "She ate a piece of cake, and it was better than we hoped."
    assert value(page) == right
    page.get_by_role("button", name="Copy the text").click()
    expect_status(page, "The text is copied")
    assert page.evaluate("navigator.clipboard.readText()") == right
    page.focus("#text")
    page.keyboard.press("Control+z")
    assert value(page) == TEXT
    playwright.expect(page.locator("#mirror mark")).to_have_text(["peace", "then"])


@pytest.mark.parametrize(
    "width", [1400, *(pytest.param(width, marks=pytest.mark.slow) for width in (700, 1000, 1200))]
)
def test_the_card_does_not_cover_the_list(opened, width):
    page = opened(viewport={"width": width, "height": 900})
    write(page, TEXT, ["peace", "then"])
    card = page.get_by_role("dialog")
    for row in range(2):
        page.locator("#flags button").nth(row).click()
        card.get_by_text("Why?").click()
        playwright.expect(card.locator("details p")).to_be_visible()
        shown, listed = card.bounding_box(), page.locator("#list").bounding_box()
        below = listed["y"] >= shown["y"] + shown["height"]
        beside = shown["x"] >= listed["x"] + listed["width"]
        assert below or beside
        assert beside == (width >= 1200)
        assert shown["x"] + shown["width"] <= width
        page.keyboard.press("Escape")
    playwright.expect(card).to_be_hidden()


def test_everything_can_be_done_by_keyboard(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    page.focus("#text")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+.")
    card = page.get_by_role("dialog")
    playwright.expect(card).to_contain_text("peace")
    playwright.expect(card.get_by_role("button").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    playwright.expect(card.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Tab")
    playwright.expect(card.get_by_role("button").first).to_be_focused()
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#text")).to_be_focused()
    page.keyboard.press("Control+.")
    page.keyboard.press("Enter")
    assert value(page) == TEXT.replace("peace", "piece")
    playwright.expect(page.locator("#mirror mark")).to_have_text(["then"])
    page.keyboard.press("Control+.")
    page.keyboard.press("1")
    assert value(page) == "She ate a piece of cake, and it was better than we hoped."


@pytest.mark.slow
def test_ignored_words_stay_ignored(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    page.locator("#flags button").first.click()
    page.keyboard.press("i")
    playwright.expect(page.locator("#mirror mark")).to_have_text(["then"])
    expect_status(page, "peace is left as it is")
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(" Yes.")
    expect_status(page, "1 flag in 14 words")
    assert value(page) == TEXT + " Yes."


@pytest.mark.slow
def test_the_slider_shows_more_and_fewer(opened):
    page = opened()
    page.get_by_role("button", name="A story").click()
    playwright.expect(page.locator("#mirror mark").first).to_be_visible()
    slider, counts = page.get_by_role("slider"), []
    for place in ("Home", "End"):
        slider.focus()
        with page.expect_response("**/v2/check") as answer:
            page.keyboard.press(place)
        counts.append(len(answer.value.json()["matches"]))
        playwright.expect(page.locator("#flags button")).to_have_count(counts[-1])
    assert counts[0] < counts[1]
    assert slider.get_attribute("aria-valuetext") == "8 false alarms per 1,000 words"


@pytest.mark.slow
@pytest.mark.parametrize("example", ["A letter", "An abstract", "A story", "Forms", "Nothing wrong"])
def test_examples_are_flagged_as_documented(opened, example):
    page = opened()
    with page.expect_response("**/v2/check") as answer:
        page.get_by_role("button", name=example).click()
    matches = answer.value.json()["matches"]
    assert len(matches) >= 3 if example != "Nothing wrong" else not matches


def contrast(page, selector):
    """Return the ratio of the colours of an element and of the page (the guidelines of accessibility)."""
    return page.evaluate(
        """(selector) => {
          const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          const on = light(getComputedStyle(document.body).backgroundColor);
          const of = light(getComputedStyle(document.querySelector(selector)).color);
          return (Math.max(on, of) + 0.05) / (Math.min(on, of) + 0.05);
        }""",
        selector,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_readable_in_light_and_dark(opened, scheme):
    page = opened(color_scheme=scheme)
    write(page, TEXT, ["peace", "then"])
    for selector in ("h1", "header p", "#text", "#status", "#flags s", ".sure", "footer"):
        assert contrast(page, selector) >= 4.5, selector
    channel = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\\\d+/)[0]".replace("\\\\", "\\")
    )
    assert (int(channel) < 60) == (scheme == "dark")


@pytest.mark.parametrize(
    "width", [280, *(pytest.param(width, marks=pytest.mark.slow) for width in (320, 390, 700))]
)
def test_the_page_fits_a_phone(opened, width):
    page = opened(viewport={"width": width, "height": 700}, has_touch=True, is_mobile=True)
    page.get_by_role("button", name="A letter").tap()
    playwright.expect(page.locator("#mirror mark").first).to_be_visible()
    page.locator("#flags button").nth(1).tap()
    card = page.get_by_role("dialog")
    playwright.expect(card).to_contain_text("of such flags were right")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#rate").bounding_box()["width"] >= 140
    box = card.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 701
    heights = page.locator("button:visible").evaluate_all("(all) => all.map((button) => button.offsetHeight)")
    assert min(heights) >= 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_rules_fits_a_phone(opened, scheme):
    page = opened(viewport={"width": 320, "height": 700}, is_mobile=True, color_scheme=scheme)
    page.goto(page.url.rstrip("/") + "/rules#confused-words")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#confused-words ins").first.is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 380) == (scheme == "dark")


def test_screen_readers(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    tree = page.locator("body").aria_snapshot()
    assert '- textbox "Your text"' in tree
    assert re.search(r"- status: 2 flags in 13 words", tree)
    question = "Did you mean “piece” in place of “peace”"
    measured = r"[\w-]+; (\d+ %|about \d in 10) of such flags were right"
    assert re.search(rf'- button "{question}\? \({measured}\)"', tree)
    assert '- group "Examples to start from"' in tree
    assert '- slider "False alarms per 1,000 words' in tree
    assert page.locator("#mirror").get_attribute("aria-hidden") == "true"
    page.locator("#flags button").first.click()
    assert '- dialog "Did you mean “piece” in place of “peace”?"' in page.locator("main").aria_snapshot()


HOSTILE = {
    "tags": "<img src=x onerror=alert(1)> <script>alert(2)</script> She ate a peace of cake. <b>So</b> <!--",
    "quotes": "\"'><svg/onload=alert(3)>`${alert(4)}` She ate a peace of cake' onclick='alert(5)",
    "entities": "&lt;img&gt; &amp;quot; She ate a peace of cake. &#x27;",
    "right to left": "\u202eShe ate a peace of cake.\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d.",
    "a long word": "She ate a peace of cake. " + "wordwithoutend" * 60,
    "combining": "She ate a peace of cake. Z\u0351\u036b\u0343 c\u0301\u0302 \U0001f468\u200d\U0001f469",
    "lines": "\n\n\tShe ate a peace of cake.\n" + "\n" * 40,
    "half a character": "",
}


@pytest.mark.parametrize(
    "what", ["tags", *(pytest.param(name, marks=pytest.mark.slow) for name in [*HOSTILE][1:])]
)
def test_any_text_is_shown_as_text(opened, what):
    page, text = opened(), HOSTILE[what]
    if what == "half a character":
        page.evaluate(
            "document.getElementById('text').value = 'She ate a peace of cake \\ud83d and so on.';"
            "document.getElementById('text').dispatchEvent(new Event('input'))"
        )
    else:
        write(page, text)
        assert value(page) == text
    playwright.expect(page.locator("#mirror mark").first).to_have_text(re.compile("peace"))
    assert page.locator("img, svg, #mirror :not(mark), #flags script").count() == 0
    whole = page.evaluate("document.getElementById('mirror').textContent.slice(0, -1)")
    assert whole == page.evaluate("document.getElementById('text').value")
    sizes = page.evaluate(
        "['text', 'mirror'].map((id) => document.getElementById(id))"
        ".map((node) => [node.clientWidth, node.clientHeight, node.scrollHeight, node.scrollWidth])"
    )
    assert sizes[0] == sizes[1]
    assert sizes[0][1] == sizes[0][2]
    page.locator("#flags button").first.click()
    page.get_by_role("dialog").get_by_role("button").first.click()
    assert "piece" in value(page)
    page.wait_for_timeout(300)


@pytest.mark.slow
def test_a_lost_server_is_an_error(opened):
    page = opened()
    write(page, TEXT, ["peace", "then"])
    page.route("**/v2/check", lambda route: route.fulfill(status=503, body="Error: [D887] too much"))
    page.fill("#text", TEXT + " Now.")
    expect_status(page, "Error: [D887] too much")
    page.unroute("**/v2/check")
    page.fill("#text", TEXT + " Now and then.")
    expect_status(page, "flags in")
