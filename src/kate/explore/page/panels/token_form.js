// A service that asks for a token: the page asks its reader.

import { element, fill } from "../elements.js";
import { rememberToken } from "../service.js";

/** @param {HTMLElement} root @param {boolean} wrong whether one was sent and refused @param {() => void} again */
export function askForToken(root, wrong, again) {
  const input = element("input", { type: "password", id: "token", name: "token", autocomplete: "off", required: "" });
  const send = (event) => {
    event.preventDefault();
    rememberToken(input.value.trim());
    again();
  };
  fill(root, element("form", { class: "broken token-form", on: { submit: send } },
    element("h1", {}, "This service asks for a token"),
    element("p", {}, wrong ? "It does not take the one that was given." : "Whoever started it has one; it is kept until this window is closed."),
    element("p", {}, element("label", { for: "token" }, "Token "), input, " ", element("button", { type: "submit", class: "primary" }, "Open")),
  ));
  input.focus();
}
