"use strict";

const form = document.getElementById("parse");
const note = document.getElementById("note");
const fields = ["text", "pipeline", "other"];
let latest = 0;

async function parse() {
  const number = (latest += 1);
  const question = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));
  writeAddress(question);
  note.className = "note";
  note.textContent = "Parsing…";
  let answer;
  try {
    const response = await fetch("/parse", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
    });
    answer = await response.json();
  } catch {
    answer = { error: "The server does not respond. Is it still running?" };
  }
  // The user may have sent another request in the meantime.
  if (number !== latest) return;
  light(null);
  note.className = answer.error ? "error" : "note";
  note.textContent = answer.error ?? "";
  const { records } = answer;
  record = records?.length === 1 ? records[0] : (records ?? null);
  document.getElementById("comparison").hidden = !question.other;
  document.querySelector(".legend .invented").textContent = `only ${question.pipeline} (above)`;
  document.querySelector(".legend .missed").textContent = `only ${question.other} (below)`;
  // The server has escaped all text.
  document.querySelector("main").innerHTML = answer.html ?? "";
  updateFilter();
}

function read() {
  const state = readAddress();
  form.elements.text.value = state.text ?? document.querySelector(".examples button").textContent;
  for (const name of ["pipeline", "other"]) {
    const select = form.elements[name];
    select.value = state[name] ?? select.options[0].value;
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  }
  parse();
}

actions.example = (article, button) => {
  form.elements.text.value = button.textContent;
  parse();
};
form.addEventListener("submit", (event) => {
  event.preventDefault();
  parse();
});
form.elements.pipeline.addEventListener("change", parse);
form.elements.other.addEventListener("change", parse);
form.elements.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse();
});
addEventListener("hashchange", read);
read();
