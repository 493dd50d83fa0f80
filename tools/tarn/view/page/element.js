// SPDX-License-Identifier: BSD-2-Clause
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
