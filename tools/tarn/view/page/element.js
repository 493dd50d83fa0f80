// Creates elements without templates: text is never parsed as markup.
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      node.addEventListener(key, value);
    else if (value !== undefined && value !== false)
      node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

export const checkbox = (text) => element("label", {}, element("input", {type: "checkbox"}), ` ${text}`);

export const swatch = (color) => element("i", {class: "swatch", style: `background:${color}`});

// The first option of a menu has no value.
export const options = (first, values) => [["", first], ...values].map(([value, text, title]) => element("option", {value, title}, text));

// Closes a dialog when the user clicks beside it.
export const closing = (dialog) => dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
