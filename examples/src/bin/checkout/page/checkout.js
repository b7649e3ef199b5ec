// The page works without this. It spares a second click its round trip, and says that the first is under way; that one
// form is one order is not its doing.
"use strict";

const outcome = document.getElementById("outcome");
const forms = document.querySelectorAll('form[method="post"]');

for (const form of forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    form.querySelector("button").setAttribute("aria-disabled", "true");
    outcome.textContent = "Sending…";
  });
}

// Back may show the page as it was left: it may be sent again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of forms) {
    delete form.dataset.sent;
    form.querySelector("button").removeAttribute("aria-disabled");
  }
  outcome.textContent = "";
});

// What was said is read out first on a new page.
if (outcome.textContent) outcome.focus();
