// Keyboard navigation, as in ARIA's treegrid pattern: up and down move between rows, right and left expand and
// collapse, Enter shows the details of a span. Without scripts all rows are visible.
"use strict";
const level = (row) => Number(row.getAttribute("aria-level"));
const isOpen = (row) => row.getAttribute("aria-expanded") === "true";

function below(row) {
  const rows = [];
  for (let next = row.nextElementSibling; next && level(next) > level(row); next = next.nextElementSibling) rows.push(next);
  return rows;
}

function fold(row, open) {
  row.setAttribute("aria-expanded", String(open));
  let closed = Infinity;
  for (const next of below(row)) {
    if (level(next) <= closed) closed = Infinity;
    next.hidden = !open || level(next) > closed;
    if (!next.hidden && next.getAttribute("aria-expanded") === "false") closed = level(next);
  }
}

function go(grid, row) {
  if (!row) return;
  for (const other of grid.tBodies[0].rows) other.tabIndex = other === row ? 0 : -1;
  row.focus();
}

function parent(row) {
  let above = row.previousElementSibling;
  while (above && level(above) >= level(row)) above = above.previousElementSibling;
  return above;
}

function press(grid, row, key) {
  const rows = [...grid.tBodies[0].rows].filter((other) => !other.hidden);
  const at = rows.indexOf(row);
  const can = row.hasAttribute("aria-expanded");
  switch (key) {
    case "ArrowDown": return go(grid, rows[at + 1]);
    case "ArrowUp": return go(grid, rows[at - 1]);
    case "Home": return go(grid, rows[0]);
    case "End": return go(grid, rows.at(-1));
    case "ArrowRight": return can && !isOpen(row) ? fold(row, true) : can && go(grid, rows[at + 1]);
    case "ArrowLeft": return can && isOpen(row) ? fold(row, false) : go(grid, parent(row));
    case "Enter": { const details = row.querySelector("details"); details.open = !details.open; }
  }
}

const KEYS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End", "Enter"];
for (const grid of document.querySelectorAll("[role=treegrid]")) {
  grid.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "TR" || !KEYS.includes(event.key)) return;
    event.preventDefault();
    press(grid, event.target, event.key);
  });
  grid.addEventListener("click", (event) => {
    const row = event.target.closest(".fold")?.closest("tr");
    if (row) fold(row, !isOpen(row));
  });
}

// Shows the span of a link, even in a collapsed row.
function reveal() {
  const row = location.hash.startsWith("#span-") && document.getElementById(location.hash.slice(1));
  if (!row) return;
  for (let above = parent(row); above; above = parent(above)) if (!isOpen(above)) fold(above, true);
  go(row.closest("table"), row);
}
addEventListener("hashchange", reveal);
reveal();
document.documentElement.dataset.ready = "yes";
