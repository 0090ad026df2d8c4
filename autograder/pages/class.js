"use strict";
// Sorts and filters the tables that the page has as HTML. Texts are read from the page and written as text, never as HTML.
(() => {
const form = document.getElementById("filter"), said = form.querySelector("output"), detail = document.getElementById("detail");
const field = (name) => form.elements[name];
const nameOf = (row) => row.cells[0].textContent;

// -- sorting: by numbers where both are numbers, else by text; a second click turns the order round
const collator = new Intl.Collator(undefined, { numeric: true });
const keyOf = (cell) => {
  const text = cell.dataset.key || cell.textContent.trim();
  return { text, number: text === "" ? NaN : Number(text) };
};
function compare(one, other) {
  const numbers = !Number.isNaN(one.number) - !Number.isNaN(other.number);
  return numbers ? -numbers : one.number - other.number || collator.compare(one.text, other.text);
}
function sort(head) {
  const turn = head.ariaSort === "ascending" ? -1 : 1, place = head.cellIndex, body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => [keyOf(row.cells[place]), row]);
  rows.sort((one, other) => turn * compare(one[0], other[0]));
  body.append(...rows.map(([, row]) => row));
  for (const each of head.parentNode.cells) each.ariaSort = null;
  head.ariaSort = turn > 0 ? "ascending" : "descending";
}
for (const head of document.querySelectorAll(".sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}

// -- filtering: a student's row stays if the name holds the text, and a cell of it is in the state and shows the mistake
const tables = [...document.querySelectorAll(".matrix")];
const people = tables.length ? [...tables[0].tBodies[0].rows] : [];
const spoken = new Map(people.map((row) => [nameOf(row), `${nameOf(row)} ${row.cells[row.cells.length - 1].textContent}`.toLowerCase()]));
function filter() {
  const text = field("student").value.trim().toLowerCase(), module = field("module").value;
  const state = field("state").value, mistake = field("mistake").value;
  for (const each of document.querySelectorAll(".hit")) each.classList.remove("hit");
  const selector = `${state && `.${state}`}${mistake && `[data-mistake="${mistake}"]`}`;
  const cells = selector ? [...document.querySelectorAll(`.matrix td${selector}`)] : [];
  const hits = cells.filter((cell) => { // a student's cell for a module says no more than the module's table, but where nothing was handed in
    const its = cell.closest("[data-module]");
    return its && (!module || its.dataset.module === module);
  });
  const rows = new Set(hits.map((cell) => cell.parentNode)), names = new Set([...rows].map(nameOf));
  for (const cell of hits) cell.classList.add("hit");
  for (const table of tables) {
    const chosen = (row) => !selector || (table === tables[0] ? names.has(nameOf(row)) : rows.has(row));
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !(spoken.get(nameOf(row)).includes(text) && chosen(row));
      shown += !row.hidden;
    }
    const section = table.closest(".module");
    if (section) section.hidden = !shown || (module !== "" && section.dataset.module !== module);
  }
  for (const row of document.querySelectorAll("tbody tr[data-module]")) row.hidden = module !== "" && row.dataset.module !== module;
  const count = people.filter((row) => !row.hidden).length;
  said.textContent = text || selector || module ? `${count} of ${people.length} students` : "";
}
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());

// -- from a mistake to its students in the tables
for (const row of document.querySelectorAll("[id^='mistake-']")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "show";
  button.title = "show these students in the tables";
  button.append(...row.cells[0].childNodes);
  button.addEventListener("click", () => {
    form.reset();
    field("mistake").value = row.id.slice("mistake-".length);
    filter();
    document.getElementById("students").scrollIntoView();
  });
  row.cells[0].append(button);
}

// -- a link to what is folded or hidden, details of a cell where there is no mouse, and paper
addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.hidden) { form.reset(); filter(); }
  target?.querySelector("details")?.setAttribute("open", "");
  target?.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
});
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".matrix td[title]");
  detail.hidden = !cell;
  detail.textContent = cell ? `${nameOf(cell.parentNode)}: ${cell.title}` : "";
});
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const each of folded) each.open = true;
});
addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
form.hidden = false;
})();
