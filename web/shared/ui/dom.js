// Builds elements and announces to screen readers. Text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Relative to this file, so that both have the same cache lifetime. */
const ICONS = new URL("../images/icons.svg", import.meta.url).pathname;

/** `el("a", { href: "#/", class: "btn" }, "Home")`; `on…` attributes are listeners. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    // Our content policy allows styles from scripts, but not from attributes.
    if (name === "style") Object.entries(value).forEach(([key, it]) => element.style.setProperty(key, it));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Announces a text to screen readers when they are idle. */
export function announce(text) {
  const region = document.getElementById("live");
  if (region && region.textContent !== text) region.textContent = text;
}

/** An error box that is announced at once. Empty until it gets a text. */
export function problemBox() {
  const box = el("p", { class: "note danger", role: "alert", hidden: true });
  return {
    element: box,
    show(text) {
      box.textContent = text;
      box.hidden = !text;
    },
  };
}

/** Runs a button's action, and disables the button while it runs. */
export async function whileBusy(button, action) {
  if (button.disabled) return;
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await action();
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

/** A decorative icon of the sprite sheet; the text beside it carries the meaning. */
export function icon(name) {
  const picture = svg("svg", { class: "icon", "aria-hidden": "true", viewBox: "0 0 24 24" });
  picture.append(svg("use", { href: `${ICONS}#${name}` }));
  return picture;
}
