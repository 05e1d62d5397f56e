// What all scripts of a page share. Names from the data only ever become text nodes: nothing here parses HTML.
const data = JSON.parse(document.getElementById("page-data").textContent);

/** Make an element: make("p", {class: "x"}, "text", otherElement). */
function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...content.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return element;
}

/** A number for people: thousands apart, a proper minus sign. */
function figure(value, digits = 2) {
  if (value === null) return "∞";
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text.replace("-", "−");
}

for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source); // no clipboard for files in some browsers: Ctrl-C does it
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
