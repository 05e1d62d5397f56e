// Elements and numbers. Names from the data only ever become text nodes: nothing here parses HTML.

/** Make an element: make("p", {class: "x"}, "text", otherElement). */
export function make(name, attributes, ...content) {
  return filled(document.createElement(name), attributes, content);
}

/** The same for the elements of a picture. */
export function makeSvg(name, attributes, ...content) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, content);
}

function filled(element, attributes, content) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...content.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return element;
}

/** A number for people: thousands apart, a proper minus sign. */
export function figure(value, digits = 2) {
  if (value === null) return "∞";
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text.replace("-", "−");
}

/** Keys and values, one below the other. */
export function facts(rows) {
  return make("dl", { class: "facts" }, rows.filter(Boolean).map(([key, value]) => [make("dt", {}, key), make("dd", {}, value)]));
}
