// SPDX-License-Identifier: BSD-2-Clause
// The legend of colours and shapes.
import {element} from "./element.js";

export function legend({styles}) {
  return element("div", {class: "legend-list"}, ...styles.filter(({shape}) => shape).map(({property, shape, name}) =>
    element("div", {class: "legend-line"}, element("i", {class: `legend-box ${shape} ${property}`, style: `--color: var(--${property})`}), name)));
}
