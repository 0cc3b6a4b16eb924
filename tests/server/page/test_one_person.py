"""One person: from a row of the file to an answer, in the words of the record."""

import re

from playwright.sync_api import Page, expect

from ..live import LiveServer
from .steps import choose, find, latest, refused, show


def test_a_row_leads_to_an_answer_in_the_words_of_the_record(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{rejected}")
    expect(loan_page.locator(".decision .verdict")).to_contain_text("rejected")
    find(loan_page)

    record, ways = latest(live_server)
    assert record["request"]["row_ids"] == [rejected]
    for kind, place in [
        ("action", ".recommended .actions li"),
        ("consequence", ".recommended .follows li"),
        ("caution", ".answer .caution"),
    ]:
        told = [line["text"] for line in ways["ways"][0]["lines"] if line["kind"] == kind]
        assert loan_page.locator(place).all_inner_texts() == told
    others = loan_page.locator(".others").first.locator(".way")
    assert others.count() == min(3, len(ways["ways"]) - 1)


def test_cards_table_front_and_values_show_the_same_way(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    find(loan_page)
    _, ways = latest(live_server)
    second = ways["ways"][1]

    show(loan_page, "Table")
    loan_page.get_by_role("button", name="Way 2").click()
    shown = loan_page.locator(".profile .becomes").all_inner_texts()
    moved = [one for one in second["changes"] if one["before_text"] != one["after_text"]]
    assert sorted(text.split()[-1] for text in shown) == sorted(
        one["after_text"].split()[-1] for one in moved
    )
    show(loan_page, "Trade-offs")
    expect(loan_page.locator(".point h3")).to_have_text("Way 2")
    loan_page.locator("#along-probability").press("End")
    best = max(ways["front"], key=lambda point: point["probability"])
    expect(loan_page.locator(".point tbody tr")).to_have_count(len(best["changes"]))
    loan_page.get_by_role("slider", name=re.compile("^Ways of the front")).press("Home")
    closest = min(ways["front"], key=lambda point: point["distance"])
    expect(loan_page.locator(".point")).to_contain_text(f"distance of {closest['distance']:.2f}")


def test_axes_of_the_front_are_chosen(loan_page: Page, rejected: int) -> None:
    choose(loan_page, rejected)
    find(loan_page)
    show(loan_page, "Trade-offs")
    loan_page.get_by_label("Across").select_option("n_actions")
    expect(loan_page.locator(".scatter .axis")).to_contain_text("number of actions")


def test_the_list_is_filtered_by_decision_and_by_value(loan_page: Page) -> None:
    rows = loan_page.locator(".people tbody tr")
    expect(rows).to_have_count(20)
    loan_page.get_by_label("Decision").select_option("rejected")
    expect(rows.filter(has_not_text="rejected")).to_have_count(0)
    expect(rows.first).to_contain_text("rejected")

    loan_page.get_by_text("Filter by value").click()
    loan_page.get_by_label("Rule").fill("x.age >= 40 and x.savngs < 1")
    problem = loan_page.locator("#where-note")
    expect(problem).to_contain_text("savngs")
    expect(problem.locator("mark")).to_have_text("s")
    loan_page.get_by_label("Rule").fill("x.age >= 40")
    expect(problem.locator("mark")).to_have_count(0)
    loan_page.get_by_role("button", name=re.compile("^age")).click()
    expect(loan_page.get_by_role("columnheader", name="age")).to_have_attribute(
        "aria-sort", "ascending"
    )
    ages = loan_page.locator(".people tbody tr td:nth-child(5)")
    expect(ages.first).to_have_text(re.compile("^4[0-9]$"))
    numbers = [int(text) for text in ages.all_inner_texts()]
    assert numbers == sorted(numbers)
    assert numbers[0] >= 40


def test_a_form_types_over_the_values_of_a_row(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    loan_page.get_by_role("tab", name="Form").click()
    loan_page.get_by_label("savings").fill("123400")
    loan_page.get_by_role("button", name="Use these values").click()
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{rejected}, edited")
    expect(loan_page.locator(".profile")).to_contain_text("$123,400")
    find(loan_page)
    record, _ = latest(live_server)
    assert record["request"]["values"] == {"savings": 123400}


def test_a_pasted_line_is_read_or_refused_with_words(loan_page: Page) -> None:
    loan_page.get_by_role("button", name="Auditor").click()
    loan_page.get_by_role("tab", name="Paste").click()
    line = loan_page.get_by_label("A line of a csv file")
    use = loan_page.get_by_role("button", name="Use this line")
    with refused(loan_page, 422):
        line.fill("41,female")
        use.click()
        expect(loan_page.get_by_role("alert")).to_be_visible()
    line.fill("41,female,some college,office,18,53700,rents,6800,0,689,11500,54")
    use.click()
    expect(loan_page.get_by_role("heading", level=1)).to_have_text("A person typed in")
    expect(loan_page.locator(".profile")).to_contain_text("$53,700")


def test_only_the_auditor_sees_protected_features_of_the_same_person(
    loan_page: Page, rejected: int
) -> None:
    choose(loan_page, rejected)
    find(loan_page)
    sex = loan_page.locator(".profile").get_by_role("rowheader", name="sex")
    expect(sex).to_have_count(0)
    loan_page.get_by_role("button", name="Auditor").click()
    expect(sex).to_have_count(1)
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{rejected}")
    expect(loan_page.locator(".recommended")).to_be_visible()
    loan_page.get_by_role("button", name="Applicant").click()
    expect(sex).to_have_count(0)
    expect(loan_page.locator(".recommended")).to_be_visible()
