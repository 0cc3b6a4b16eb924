"""A report in a browser: what does not fit, what is cut, and what lies on something else."""

from typing import Any

from playwright.sync_api import Page

# Names of faults, each with the text of the element, so that a failure says where to look.
_FAULTS = """
() => {
  const faults = [];
  const name = element => [
    element.tagName, element.getAttribute('class'), element.textContent.trim().slice(0, 60)
  ].join(' ');
  const shown = element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const meet = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  // An element that goes on in the next column has a box in each.
  const overlap = (one, other) =>
    [...one.getClientRects()].some(a => [...other.getClientRects()].some(b => meet(a, b)));
  const apart = (elements, what) => {
    elements.forEach((one, n) => elements.slice(n + 1).forEach(other => {
      if (overlap(one, other)) faults.push(`${what}: ${name(one)} on ${name(other)}`);
    }));
  };
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push('the page scrolls sideways');
  for (const element of document.querySelectorAll('body *')) {
    if (!shown(element) || element.closest('.wide')) continue;
    const box = element.getBoundingClientRect();
    if (box.left < -1 || box.right > width + 1) faults.push(`out of the page: ${name(element)}`);
    if (element instanceof SVGElement || getComputedStyle(element).display === 'inline') continue;
    if (element.scrollWidth > element.clientWidth + 1)
      faults.push(`wider than its box: ${name(element)}`);
  }
  for (const parent of document.querySelectorAll('.summary, .flow, .cards, .pair, .steps, .ends'))
    apart([...parent.children].filter(shown), 'one lies on another');
  for (const gauge of document.querySelectorAll('.gauge')) {
    apart([...gauge.querySelectorAll('text, span')], 'labels meet');
    const outer = gauge.getBoundingClientRect();
    for (const text of gauge.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.left < outer.left - 1 || box.right > outer.right + 1)
        faults.push(`label out of its picture: ${name(text)}`);
    }
  }
  return faults;
}
"""


def faults_of(page: Page, width: int) -> list[str]:
    """Return what is wrong with the layout of a page of some width, everything unfolded."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    faults: Any = page.evaluate(_FAULTS)
    return [f"{width}: {fault}" for fault in faults]


def scrolled_parts(page: Page, width: int) -> list[str]:
    """Return the parts of a page that a reader has to scroll sideways by themselves."""
    page.set_viewport_size({"width": width, "height": 900})
    parts = page.locator(".wide").evaluate_all(
        "parts => parts.filter(part => part.scrollWidth > part.clientWidth + 1)"
        ".map(part => part.getAttribute('aria-label'))"
    )
    return [f"{width}: {part}" for part in parts]
