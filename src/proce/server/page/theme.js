// Runs before the page is drawn, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem("proce.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing shows the theme of the machine.
}
