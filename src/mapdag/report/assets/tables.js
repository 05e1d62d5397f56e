// Tables: sorting by a heading, filtering rows by a text.
{
  const collator = new Intl.Collator("en", { numeric: true });
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.sort !== undefined) return Number.isNaN(+cell.dataset.sort) ? (cell.dataset.sort === "inf" ? Infinity : cell.dataset.sort) : +cell.dataset.sort;
    return cell.classList.contains("number") ? +cell.textContent.replace(/,/g, "") : cell.textContent;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));

  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      heading.firstElementChild.addEventListener("click", () => {
        const first = heading.classList.contains("number") ? "descending" : "ascending";
        const second = first === "ascending" ? "descending" : "ascending";
        const order = heading.getAttribute("aria-sort") === first ? second : first;
        headings.forEach((each) => each.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
        rows.sort((a, b) => sign * compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map((pair) => pair[1]));
      });
    });
  }
  for (const input of document.querySelectorAll("[data-filters]")) {
    const rows = [...document.getElementById(input.dataset.filters).tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      rows.forEach((row, i) => { row.hidden = !texts[i].includes(wanted); });
    });
  }
}
