"""The report on suites as one HTML file: whole, accessible, and harmless."""

from html.parser import HTMLParser
from itertools import pairwise

import pytest
import recorded
from sinks_view import CRASHED, REFUSED, one, view

from skilleval.errors import SuiteError
from skilleval.sinks import html

VOID = {"meta"}
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "article", "header", "section"),
    *("h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "div", "span", "strong", "a", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("svg", "rect", "path", "line", "circle", "text"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "id", "class", "href", "title", "scope"),
    *("role", "aria-hidden", "viewbox", "width", "height", "x", "y", "rx", "d", "x1", "x2", "y1"),
    *("y2", "cx", "cy", "r", "text-anchor"),
}


class Page(HTMLParser):
    """Every tag with its attributes, and whether they are balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def values(self, attribute):
        return [attrs[attribute] for _, attrs in self.tags if attribute in attrs]


@pytest.fixture(scope="module")
def page():
    return Page("".join(html.pages([view(), view(1)])))


def test_hostile_text_makes_no_tag_and_no_attribute(page):
    assert {tag for tag, _ in page.tags} <= TAGS
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES
    assert page.open == []


def test_nothing_is_loaded_and_nothing_leads_away(page):
    assert all(target.startswith("#") for target in page.values("href"))
    assert page.values("content")[0] == html.POLICY
    assert "url(" not in "".join(page.texts)


def test_every_link_leads_to_one_place(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in page.values("href")} <= set(ids)


def test_tables_have_headings_with_a_scope_and_pictures_a_title(page):
    headings = [attrs for tag, attrs in page.tags if tag == "th"]
    assert {attrs.get("scope") for attrs in headings} == {"col", "row"}
    following = [page.tags[i + 1][0] for i, (tag, _) in enumerate(page.tags) if tag == "svg"]
    assert set(following) == {"title"}


def test_there_is_one_title_and_headings_skip_no_level(page):
    levels = [int(tag[1]) for tag, _ in page.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_texts_are_shown_as_they_were_written(page):
    assert any("</script></pre><script src='" in text for text in page.texts)
    assert any("::error::forged\n##[error]forged\n" in text for text in page.texts)


def test_no_control_character_gets_into_the_page():
    text = "".join(html.pages([view()]))
    assert not {c for c in text if not c.isprintable() and c != "\n"}


def test_evidence_of_a_trial_is_fetched_when_its_turn_comes():
    asked = []
    shown = view(1)._replace(whole=lambda result: asked.append(result.trial) or result)
    pieces = html.pages([shown])
    next(pieces)
    assert asked == []
    assert len(list(pieces)) > 1
    assert asked == [result.trial for result in sorted_by_case(shown)]


def sorted_by_case(shown):
    order = {case.id: place for place, case in enumerate(shown.report.suite.cases)}
    return sorted(shown.report.results, key=lambda result: order[result.trial.case_id])


def test_a_trial_that_cannot_be_read_any_more_is_said():
    def gone(result):
        raise SuiteError("trial.json", "", "no such file <b>")

    assert "trial.json: no such file &lt;b&gt;" in "".join(
        html.pages([view(1)._replace(whole=gone)])
    )


def test_only_failures_leaves_out_what_passed():
    whole, short = ("".join(html.pages([view()], failures_only=only)) for only in (False, True))
    label = "<strong>claude-code/with_skill/run-1</strong>"
    assert label in whole
    assert short.count(label) < whole.count(label)
    assert "2/3 passed (66.7%)" in short


@pytest.mark.parametrize(
    ("outcome", "status", "points"),
    [
        (CRASHED, "pass", "2/2 exit 7"),
        (REFUSED, "skip", "not started"),
        (CRASHED._replace(exit_code=0, failure=""), "error", "0/0 !2"),
    ],
)
def test_the_overview_says_what_became_of_a_trial(outcome, status, points):
    text = "".join(html.pages([one(outcome, status)]))
    assert f" {points}</a>" in text


def test_a_page_of_many_trials_stays_of_a_size_that_a_browser_opens():
    long = recorded.results(1)[0]
    text = "x" * 1_000_000
    result = long._replace(outcome=long.outcome._replace(output=text, stderr=text))
    suite = recorded.SUITE._replace(cases=recorded.CASES[:1], arms=recorded.ARMS[:1])
    one = "".join(html.pages([view(suite=suite, results=[result])]))
    assert len(one) < 400_000
    assert "characters more" in one
