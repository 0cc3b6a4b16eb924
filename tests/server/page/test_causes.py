"""The causal graph is edited by drawing, in a list and as text, and explained with."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from .steps import axe, choose, find

DRAWING = "document.querySelector('.drawing-canvas')"
# Where a feature, or the arrow from it to an effect, stands once the drawing has come to rest.
PLACE = """async ([name, effect]) => {
  const element = document.querySelector(".drawing-canvas");
  element.scrollIntoView({block: "center"});
  const cy = element._cyreg.cy;
  const find = () => {
    const box = element.getBoundingClientRect();
    const place = (point) => [box.x + point.x, box.y + point.y];
    if (effect === null) {
      return place(cy.nodes().filter((node) => node.data("name") === name)[0].renderedPosition());
    }
    const isIt = (edge) => edge.data("edge").join() === [name, effect].join();
    const arrow = cy.edges().filter(isIt)[0];
    const from = arrow.renderedSourceEndpoint();
    const [to] = arrow.renderedSegmentPoints() ?? [arrow.renderedTargetEndpoint()];
    return place({x: (from.x + to.x) / 2, y: (from.y + to.y) / 2});
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let last = null, same = 0; same < 5; await frame()) {
    const now = find().join();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return find();
}"""


def open_causes(page: Page) -> Locator:
    page.get_by_role("tab", name="Causes").click()
    panel = page.get_by_role("region", name="Causes")
    expect(panel.locator("canvas").first).to_be_attached()
    page.wait_for_function(f"{DRAWING}._cyreg?.cy.nodes().length > 0")
    return panel


def click_drawing(page: Page, name: str, effect: str | None = None) -> None:
    """Click a feature, or the arrow from it to an effect."""
    page.mouse.click(*page.evaluate(PLACE, [name, effect]))


def drawn_arrows(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        f"{DRAWING}._cyreg.cy.edges().map((edge) => edge.data('edge'))"
    )
    return found


def expect_drawn(page: Page, arrows: list[list[str]]) -> None:
    """The drawing follows the list one frame later: wait for it."""
    page.wait_for_function(
        f"""(arrows) => {{
          const drawn = {DRAWING}._cyreg.cy.edges().map((edge) => edge.data("edge").join());
          return drawn.sort().join("|") === arrows.sort().join("|");
        }}""",
        arg=[",".join(ends) for ends in arrows],
    )


def arrow(panel: Locator, cause: str, effect: str) -> Locator:
    return panel.get_by_role("button", name=f"Remove {cause} → {effect}", exact=True)


def test_an_arrow_is_drawn_reversed_removed_and_taken_back(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_causes(page)
    before = drawn_arrows(page)
    click_drawing(page, "debt")
    expect(panel.locator(".beside")).to_contain_text("What it does not explain")
    panel.get_by_role("button", name="Draw an arrow from here").click()
    click_drawing(page, "duration")
    expect(arrow(panel, "debt", "loan duration")).to_be_visible()
    expect(panel.get_by_text("edited", exact=True)).to_be_visible()
    expect_drawn(page, [*before, ["debt", "duration"]])

    click_drawing(page, "debt", "duration")
    expect(panel.locator(".beside")).to_contain_text("drawn by you")
    panel.locator(".beside").get_by_role("button", name="Reverse").click()
    expect(arrow(panel, "loan duration", "debt")).to_be_visible()
    click_drawing(page, "duration", "debt")
    page.keyboard.press("Delete")
    expect(arrow(panel, "loan duration", "debt")).to_have_count(0)
    expect(panel.get_by_text("edited", exact=True)).to_have_count(0)

    page.keyboard.press("Control+z")
    expect(arrow(panel, "loan duration", "debt")).to_be_visible()
    panel.get_by_role("button", name="Undo").click()
    expect(arrow(panel, "debt", "loan duration")).to_be_visible()
    page.keyboard.press("Control+Shift+z")
    expect(arrow(panel, "loan duration", "debt")).to_be_visible()
    panel.get_by_role("button", name="Back to the original").click()
    expect(panel.get_by_text("edited", exact=True)).to_have_count(0)
    expect_drawn(page, before)


def test_the_list_does_all_that_the_drawing_does_with_keys_alone(
    loan_page: Page, rejected: int
) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_causes(page)
    n_arrows = len(drawn_arrows(page))
    expect(panel.get_by_role("img")).to_have_accessible_name(
        f"Causal graph of 11 features and {n_arrows} arrows, causes before effects."
        " The list of arrows says the same in words."
    )
    expect(panel.get_by_role("button", name="Reverse ")).to_have_count(n_arrows)
    arrow(panel, "savings", "debt").focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("button", name="Put back savings → debt")).to_be_visible()
    panel.get_by_label("Cause", exact=True).select_option(label="debt")
    panel.get_by_label("Effect", exact=True).select_option(label="savings")
    panel.get_by_label("Effect", exact=True).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(arrow(panel, "debt", "savings")).to_be_visible()
    panel.get_by_role("button", name="Put back savings → debt").click()
    expect(panel.get_by_role("alert")).to_have_text(
        "savings → debt would close a circle, because of debt → savings."
        " Reverse or remove an arrow of it first."
    )
    axe(page, ".causes")


def test_text_is_checked_while_typing_and_drawn(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    panel = open_causes(page)
    before = drawn_arrows(page)
    panel.get_by_role("tab", name="Text").click()
    text = panel.get_by_role("textbox")
    original = text.input_value()
    text.fill(original.replace("savings -> debt", "savings ->> debt"))
    expect(panel.get_by_role("button", name="Line ")).to_be_visible()
    expect(text).to_have_attribute("aria-invalid", "true")
    expect(panel.get_by_role("button", name="Explain again")).to_be_disabled()
    axe(page, ".causes")

    text.fill(original.replace("savings -> debt\n", ""))
    expect(panel.get_by_text("This can be read")).to_be_visible()
    expect(panel.get_by_text("edited", exact=True)).to_be_visible()
    expect_drawn(page, [ends for ends in before if ends != ["savings", "debt"]])
    panel.get_by_role("button", name="Undo").click()
    expect(text).to_have_value(original)


def test_an_edited_graph_is_explained_with_and_the_answer_says_so(
    loan_page: Page, rejected: int
) -> None:
    page = loan_page
    choose(page, rejected)
    find(page)
    panel = open_causes(page)
    expect(panel.get_by_text("something to do")).to_be_visible()
    expect(panel.locator(".effects .kind, .legend").first).to_be_visible()
    arrow(panel, "savings", "debt").click()
    expect(panel.get_by_text("found with another graph")).to_be_visible()
    with page.expect_request("**/explanations?**") as asked:
        panel.get_by_role("button", name="Explain again").click()
    sent: Any = asked.value.post_data_json
    assert ["savings", "debt"] not in sent["graph"]["edges"]
    expect(panel.get_by_text("found with this edited graph")).to_be_visible()


def test_an_edited_graph_changes_what_follows(loan_page: Page, rejected: int) -> None:
    """Without the arrow into it the credit score no longer follows the debt."""
    page = loan_page
    choose(page, rejected)
    panel = open_causes(page)
    arrow(panel, "debt", "credit score").click()
    page.get_by_role("tab", name="What if").click()
    page.get_by_role("spinbutton", name="debt").fill("40000")
    expect(page.get_by_text("With these values the model would say")).to_be_visible()
    expect(page.get_by_text("credit score from")).to_have_count(0)
