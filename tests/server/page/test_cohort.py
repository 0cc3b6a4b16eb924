"""Many people are explained at once, compared, and opened one by one."""

from playwright.sync_api import Locator, Page, Route, expect

from .steps import axe


def open_many(page: Page) -> Locator:
    page.get_by_role("button", name="Many people").click()
    expect(page.get_by_role("heading", name="Many people")).to_be_visible()
    return page.locator(".cohort")


def explain_rejected(page: Page) -> Locator:
    screen = open_many(page)
    screen.get_by_label("Wanted decision").select_option(label="approved")
    screen.get_by_label("At most").fill("6")
    screen.get_by_role("button", name="Explain the first 6 of ").click()
    expect(screen.get_by_role("heading", name="6 people, wanted: approved")).to_be_visible()
    return screen


def test_many_people_are_explained_and_one_of_them_is_opened(loan_page: Page) -> None:
    page = loan_page
    screen = explain_rejected(page)
    expect(screen.locator(".advised .bars li").first).to_contain_text("%")
    expect(screen.locator(".cases tbody tr")).to_have_count(6)
    axe(page, ".cohort")
    case = screen.locator(".cases tbody tr").nth(2)
    name = case.get_by_role("button").inner_text()
    case.get_by_role("button").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("button", name="Back to the 6 people").click()
    expect(screen.locator(".cases tbody tr")).to_have_count(6)


def test_costs_are_compared_by_groups_and_protected_ones_by_the_auditor_alone(
    loan_page: Page,
) -> None:
    page = loan_page
    screen = explain_rejected(page)
    by = screen.get_by_label("Compare by")
    assert not any("sex" in text for text in by.locator("option").all_inner_texts())
    by.select_option(label="housing")
    groups = screen.get_by_role("group", name="Groups")
    expect(groups.get_by_role("row").nth(1)).to_be_visible()
    page.get_by_role("button", name="Auditor").click()
    page.get_by_role("button", name="Many people").click()
    by.select_option(label="sex (protected)")
    expect(groups.get_by_role("rowheader", name="male", exact=True)).to_be_visible()


def test_a_filter_that_cannot_be_read_is_told_where_it_is_typed(loan_page: Page) -> None:
    screen = open_many(loan_page)
    screen.get_by_label("Wanted decision").select_option(label="approved")
    screen.get_by_label("Values (").fill("x.savngs > 3")
    expect(screen.locator("#cohort-where-state")).to_contain_text("savngs")
    expect(screen.get_by_role("button", name="Explain")).to_be_disabled()


def test_what_is_typed_is_not_asked_for_before_it_was_looked_at(loan_page: Page) -> None:
    """A decision is chosen and a rule begun before the page has counted who fits the decision."""
    screen = open_many(loan_page)
    screen.evaluate(
        """async (screen) => {
            const decision = screen.querySelector("#cohort-target");
            decision.selectedIndex = decision.selectedIndex ? 0 : 1;
            decision.dispatchEvent(new Event("change", { bubbles: true }));
            await Promise.resolve().then(() => {}).then(() => {});
            const rule = screen.querySelector("#cohort-where");
            rule.value = "x.savngs > 3";
            rule.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(screen.locator("#cohort-where-state")).to_contain_text("savngs")


def test_only_people_who_are_not_decided_as_wanted_are_explained(loan_page: Page) -> None:
    """One decision is wanted for all, so that no two directions are counted together."""
    page = loan_page
    screen = open_many(page)
    screen.get_by_label("Wanted decision").select_option(label="rejected")
    screen.get_by_label("At most").fill("2")
    with page.expect_request("**/explanations?**") as asked:
        screen.get_by_role("button", name="Explain the first 2 of ").click()
    assert asked.value.post_data_json["target"] == "rejected"
    expect(screen.get_by_role("heading", name="2 people, wanted: rejected")).to_be_visible()
    expect(screen.get_by_text("has the decision already")).to_have_count(0)


def test_marked_rows_are_explained(loan_page: Page) -> None:
    page = loan_page
    for row in (0, 3):
        page.locator(".people tbody tr").nth(row).get_by_role("checkbox").check()
    screen = open_many(page)
    expect(screen.get_by_role("button", name="Explain")).to_be_disabled()
    screen.get_by_label("Wanted decision").select_option(label="approved")
    screen.get_by_label("the 2 marked in the list").check()
    screen.get_by_role("button", name="Explain all 2").click()
    expect(screen.get_by_role("heading", name="2 people")).to_be_visible()


def test_a_run_is_watched_and_stopped(loan_page: Page) -> None:
    """The stream is held back, so that the run is still there to be stopped."""
    page = loan_page
    held: list[Route] = []
    page.route("**/explanations/*/events", lambda route: held.append(route))
    screen = open_many(page)
    screen.get_by_label("Wanted decision").select_option(label="approved")
    screen.get_by_label("At most").fill("60")
    screen.get_by_role("button", name="Explain all ").click()
    expect(screen.get_by_text("Waiting to begin")).to_be_visible()
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        screen.get_by_role("button", name="Stop").click()
    for route in held:
        route.continue_()
    expect(screen.get_by_role("progressbar")).to_have_count(0)
    expect(screen.get_by_role("button", name="Explain all ")).to_be_enabled()
