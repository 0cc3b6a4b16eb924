"""How the report looks: on a screen, light or dark, wide or narrow, and on paper."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #222222; --grey: #5c5c5c; --blue: #1f5fa8; --line: #d9d9d9;
  --faint: #b5b5b5; --half: #c9d3de; --most: #e8edf2; --tint: #e3eefb;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #16191d; --ink: #e8e8e8; --grey: #a8adb3; --blue: #7db3f2; --line: #3a4047;
    --faint: #6a727b; --half: #45525f; --most: #262d35; --tint: #1d3450;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 62rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 .6rem; padding-top: 1rem;
  border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
h4 { font-size: 1rem; margin: 1rem 0 .2rem; }
p, ul, ol { margin: .4rem 0; max-width: 46rem; }
ul, ol { padding-left: 1.4rem; }
li { margin: .2rem 0; }
a { color: var(--blue); }
.small, figcaption, caption { color: var(--grey); font-size: .9rem; }
.lead { font-size: 1.1rem; }
.actions { font-size: 1.1rem; font-weight: 600; }
.follows { margin-left: 1.2rem; padding-left: 1.6rem; border-left: 3px dashed var(--faint); }
.caution { border-left: 4px solid var(--blue); background: var(--tint); padding: .6rem 1rem;
  max-width: 46rem; }
.wide { overflow-x: auto; max-width: 100%; }
.wide:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--blue); }
table { border-collapse: collapse; font-size: .95rem; margin: .5rem 0; }
caption { text-align: left; padding: .2rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--line); }
th[scope=row] { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; }
svg { display: block; width: 100%; height: auto; min-width: 30rem; max-width: 44rem; }
svg text { fill: var(--ink); }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--blue); }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .2rem 1.2rem; }
dt { color: var(--grey); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 34rem) {
  body { padding-top: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  .follows { margin-left: 0; }
}
@media print {
  @page { margin: 18mm 16mm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  article { break-before: page; }
  article:first-of-type:not(.after) { break-before: auto; }
  h2, h3, h4, figcaption, caption { break-after: avoid; }
  figure, tr, li, .caution { break-inside: avoid; }
  section:has(> h4) { break-inside: avoid; }
  .wide { overflow: visible; }
  svg { min-width: 0; max-width: 15cm; }
  a { color: inherit; text-decoration: none; }
  summary { list-style: none; color: inherit; font-weight: 600; }
  details::details-content { content-visibility: visible; display: block; }
}
""".strip()
