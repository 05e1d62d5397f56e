// Probability tables. They come as counts of the observed configurations, from which rows are computed as `mapdag.fit` does,
// or as the probabilities of a network. Every row can be reached: page by page, or by the levels of the parents.
import { figure, make } from "./elements.js";

/** Probabilities as they are written: null where they are undefined. */
const written = (values) => Float64Array.from(values, (p) => p ?? NaN);

/** A shaded cell of a probability table. */
function chance(p) {
  if (Number.isNaN(p)) return make("td", { class: "chance" }, "–");
  const text = p > 0 && p < 0.0005 ? "<.001" : p < 1 && p >= 0.9995 ? ">.999" : p.toFixed(3);
  const cell = make("td", { class: "chance" }, text);
  cell.style.setProperty("--p", p);
  return cell;
}

/** The numbers in the tables of an indexed network. */
export function makeTables({ nodes }) {
  /** Names of levels; of nodes with hundreds of levels only the most frequent have one. */
  const labelOf = nodes.map(({ codes, labels }) => (codes ? new Map(codes.map((code, k) => [code, labels[k]])) : labels));
  const label = (i, code) => (nodes[i].codes ? labelOf[i].get(code) : labelOf[i][code]) ?? `level ${code + 1}`;
  const namedCodes = (i) => nodes[i].codes || nodes[i].labels.map((_, code) => code);

  /** The table of a node, with what it takes to find a configuration in it. */
  function tableOf(i) {
    const { table, parents } = nodes[i];
    if (!table.rows) {
      table.starts = [0];
      for (const size of table.sizes) table.starts.push(table.starts.at(-1) + size);
      const codes = (j) => table.given.slice(j * parents.length, (j + 1) * parents.length);
      table.configurations = table.sizes.map((_, j) => codes(j));
      table.rows = new Map(table.configurations.map((each, j) => [each.join(), j]));
    }
    return table;
  }

  /** One row: how often the configuration was observed, and the probabilities, or null where the page has neither. */
  function rowOf(i, codes) {
    const { r, parents } = nodes[i], table = tableOf(i), j = table.rows.get(codes.join());
    const values = new Float64Array(r);
    const denseRow = () => {
      const at = codes.reduce((sum, code, k) => sum * nodes[parents[k]].r + code, 0) * r;
      return written(table.chances.slice(at, at + r));
    };
    let count = 0;
    if (j !== undefined) {
      for (let cell = table.starts[j]; cell < table.starts[j + 1]; cell += 1) {
        values[table.levels[cell]] = table.counts[cell];
        count += table.counts[cell];
      }
    } else if (table.hidden) {
      return table.dense ? { count: null, values: denseRow() } : null;
    }
    if (table.dense) return { count, values: denseRow() };
    if (table.chances) return j === undefined ? { count, values: null } : { count, values: written(table.chances.slice(j * r, (j + 1) * r)) };
    const rows = count + table.imaginary;
    for (let k = 0; k < r; k += 1) values[k] = rows > 0 ? (values[k] + table.imaginary / r) / rows : 1 / r;
    return { count, values };
  }

  /** The whole table, one row after the other, the last parent's levels changing first. */
  function denseTable(i) {
    const { r, parents } = nodes[i], table = tableOf(i);
    if (table.dense) return written(table.chances);
    const q = parents.reduce((product, parent) => product * nodes[parent].r, 1);
    const values = new Float64Array(q * r).fill(1 / r);
    for (const codes of table.configurations) {
      const at = codes.reduce((sum, code, k) => sum * nodes[parents[k]].r + code, 0);
      values.set(rowOf(i, codes).values, at * r);
    }
    return values;
  }
  return { label, namedCodes, tableOf, rowOf, denseTable };
}

/** The tables of an indexed network as elements: for the card and for the panel of a node. */
export function showTables({ nodes, name }, { label, namedCodes, tableOf, rowOf }) {
  /** Some rows of the table of a node, with at most so many levels: the most frequent ones, the others added up. */
  function someRows(i, configurations, most) {
    const { parents, r, observed } = nodes[i];
    let codes = namedCodes(i);
    if (r > most) {
      const often = codes.map((code, k) => [observed[k], code]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
      codes = often.slice(0, most - 1).map(([, code]) => code).sort((a, b) => a - b);
    }
    const others = r - codes.length;
    const head = make("tr", {},
      parents.map((p) => make("th", { class: "given", scope: "col", title: name(p) }, name(p))),
      make("th", { class: "count", scope: "col" }, "rows"),
      codes.map((code) => make("th", { scope: "col", title: label(i, code) }, label(i, code))),
      others ? make("th", { scope: "col" }, `${figure(others, 0)} others`) : null);
    const body = configurations.map((given) => {
      const row = rowOf(i, given), values = row && row.values;
      const shown = codes.map((code) => (values ? values[code] : NaN));
      return make("tr", { class: row && row.count === 0 ? "never" : null },
        given.map((code, k) => make("td", { class: "given", title: label(parents[k], code) }, label(parents[k], code))),
        make("td", { class: "count" }, row && row.count !== null ? figure(row.count, Number.isInteger(row.count) ? 0 : 2) : "?"),
        shown.map(chance),
        others ? chance(values ? Math.max(0, 1 - shown.reduce((sum, p) => sum + p, 0)) : NaN) : null);
    });
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Probabilities of ${name(i)}` },
      make("table", { class: "probabilities" }, make("thead", {}, head), make("tbody", {}, body)));
  }

  /** The most frequent rows. */
  function card(i) {
    const { configurations } = tableOf(i), rest = configurations.length + tableOf(i).hidden - 8;
    return [
      someRows(i, configurations.slice(0, 8), 8),
      rest > 0 ? make("p", { class: "help" }, `and ${figure(rest, 0)} more observed configurations: click the node`) : null,
    ];
  }

  /** The whole table: choose levels of the parents, or turn pages. */
  function panel(i) {
    const PAGE = 10, node = nodes[i], { configurations, hidden } = tableOf(i);
    const whole = make("div", { class: "cpt" });
    const rows = make("div"), word = make("span", { role: "status" });
    let page = 0;
    const choices = node.parents.map((parent) => make("select", { "aria-label": `Level of ${name(parent)}`, change: () => { page = 0; update(); } },
      make("option", { value: "" }, "any"), namedCodes(parent).map((code) => make("option", { value: code }, label(parent, code)))));
    const turn = (step, text, told) => make("button", { type: "button", "aria-label": told, click: () => { page += step; update(); } }, text);
    const back = turn(-1, "‹", "Previous page"), on = turn(1, "›", "Next page");
    function update() {
      const wanted = choices.map((choice) => (choice.value === "" ? -1 : +choice.value));
      const all = wanted.length > 0 && wanted.every((code) => code >= 0);
      let matching = configurations.filter((codes) => codes.every((code, k) => wanted[k] < 0 || code === wanted[k]));
      const never = all && !matching.length;
      if (never) matching = [wanted];
      const first = page * PAGE, shown = matching.slice(first, first + PAGE);
      rows.replaceChildren(shown.length ? someRows(i, shown, 40) : "");
      back.disabled = page === 0;
      on.disabled = first + PAGE >= matching.length;
      back.hidden = on.hidden = matching.length <= PAGE;
      const lost = hidden ? `; ${figure(hidden, 0)} rare ones are not in this page` : "";
      const also = node.parents.length ? `${figure(first + 1, 0)} to ${figure(first + shown.length, 0)} of ${figure(matching.length, 0)} observed configurations${lost}` : "";
      const unknown = never && !rowOf(i, wanted);
      word.textContent = unknown ? "Not among the configurations in this page" : never ? "Never observed" : !matching.length ? `None of these was observed${lost}` : also;
    }
    const chooser = node.parents.map((parent, k) => make("label", {}, make("span", { title: name(parent) }, name(parent)), choices[k]));
    whole.append(
      make("h4", { class: "over" }, node.parents.length ? "Probabilities given the parents" : "Probabilities"),
      ...(chooser.length ? [make("div", { class: "chooser" }, chooser)] : []),
      rows,
      make("p", { class: "pager" }, back, on, word));
    update();
    return whole;
  }
  return { card, panel };
}
