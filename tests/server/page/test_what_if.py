"""Any value is changed by hand; the decision, what follows and the rules move while typing."""

from playwright.sync_api import Locator, Page, Route, expect

from .steps import axe, choose, find


def open_what_if(page: Page) -> Locator:
    page.get_by_role("tab", name="What if").click()
    panel = page.get_by_role("region", name="What if")
    expect(panel.get_by_text("The model says").first).to_be_visible()
    return panel


def field(panel: Locator, name: str) -> Locator:
    return panel.get_by_label(name, exact=True)


def test_the_decision_and_what_follows_move_while_typing(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    debt = field(panel, "debt")
    score = field(panel, "credit score")
    before = score.input_value()
    debt.fill("45000")
    expect(panel.get_by_text("With these values the model would say")).to_be_visible()
    expect(panel.locator(".what-field.is-follows", has_text="credit score")).to_contain_text(
        "follows"
    )
    expect(score).not_to_have_value(before)
    expected = score.input_value()

    score.fill(before)
    expect(panel.locator(".what-field.is-held", has_text="credit score")).to_be_visible()
    axe(page, ".what-if")
    panel.get_by_role("button", name="Let credit score be as before").click()
    expect(score).to_have_value(expected)
    panel.get_by_role("button", name=f"Hold credit score at {before}").click()
    expect(score).to_have_value(before)


def test_rules_that_break_are_told(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    field(panel, "age").fill("18")
    expect(panel.locator(".broken")).to_contain_text("cf.age >= x.age")
    field(panel, "age").fill("50")
    expect(panel.locator(".broken")).to_have_count(0)


def test_steps_are_taken_back_and_done_again(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    savings, debt = field(panel, "savings"), field(panel, "debt")
    first = debt.input_value()
    debt.click()
    debt.press("Control+a")
    debt.press_sequentially("45000")
    savings.fill("90000")
    page.keyboard.press("Control+z")
    expect(savings).not_to_have_value("90000")
    expect(debt).to_have_value("45000")
    page.keyboard.press("Control+z")
    expect(debt).to_have_value(first)
    expect(panel.get_by_role("button", name="Undo")).to_be_disabled()
    panel.get_by_role("button", name="Redo").click()
    expect(debt).to_have_value("45000")
    panel.get_by_role("button", name="As it was").click()
    expect(debt).to_have_value(first)


def test_an_answer_that_comes_late_is_dropped(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    held: list[Route] = []
    page.route("**/what-if", lambda route: held.append(route))
    field(panel, "debt").fill("45000")
    with page.expect_request("**/what-if"):
        pass
    page.unroute("**/what-if")
    field(panel, "debt").fill("0")
    expect(panel.locator(".what-right")).to_have_attribute("aria-busy", "false")
    shown = panel.locator(".what-verdict").inner_text()
    for route in held:
        route.abort()
    expect(panel.locator(".what-verdict")).to_have_text(shown, use_inner_text=True)
    expect(panel.get_by_role("alert")).to_have_count(0)


def test_an_empty_field_waits_for_a_value(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    field(panel, "debt").fill("")
    expect(panel.get_by_text("Type a value, or let go.")).to_be_visible()
    expect(panel.get_by_role("alert")).to_have_count(0)


def test_scenarios_stand_side_by_side(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_what_if(page)
    keep = panel.get_by_role("button", name="Keep beside the others")
    field(panel, "debt").fill("0")
    expect(panel.get_by_text("With these values")).to_be_visible()
    keep.click()
    field(panel, "savings").fill("90000")
    panel.get_by_label("Name of the scenario", exact=True).first.fill("Without debt, more savings")
    expect(keep).to_be_enabled()
    keep.click()
    table = panel.get_by_role("group", name="Scenarios side by side").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_count(3)
    changed = table.get_by_role("row", name="Changed by hand")
    expect(changed.get_by_role("cell").first).to_contain_text("debt:")
    expect(changed.get_by_role("cell").first).not_to_contain_text("savings:")
    expect(changed.get_by_role("cell").last).to_contain_text("→ $90,000")
    axe(page, ".what-if")

    table.get_by_role("textbox").first.fill("Debt free")
    page.keyboard.press("Enter")
    table.get_by_role("button", name="Edit Debt free again").click()
    expect(panel.locator(".what-field.is-held")).to_have_count(1)
    table.get_by_role("button", name="Remove Debt free").click()
    expect(table.get_by_role("columnheader")).to_have_count(2)


def test_a_way_is_taken_over_and_explained_from(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    find(page)
    page.get_by_role("button", name="Try").first.click()
    panel = page.get_by_role("region", name="What if")
    expect(panel.get_by_text("Taken over from")).to_be_visible()
    expect(panel.get_by_text("the model would say approved")).to_be_visible()
    panel.get_by_role("button", name="As it was").click()
    field(panel, "debt").fill("100")
    expect(panel.get_by_text("With these values")).to_be_visible()
    with page.expect_request("**/explanations?**") as asked:
        panel.get_by_role("button", name="Explain from here").click()
    assert asked.value.post_data_json["values"]["debt"] == 100
