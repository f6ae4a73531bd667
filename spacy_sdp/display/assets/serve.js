"use strict";

const form = document.getElementById("parse");
const note = document.getElementById("note");
const saveJson = document.getElementById("save-json");
let record = null;
let latest = 0;

async function parse() {
  const number = (latest += 1);
  note.className = "note";
  note.textContent = "Parsing…";
  let answer;
  try {
    const response = await fetch("/parse", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        text: form.elements.text.value,
        pipeline: form.elements.pipeline.value,
      }),
    });
    answer = await response.json();
  } catch {
    answer = { error: "The server does not respond. Is it still running?" };
  }
  // The user may have sent another request in the meantime.
  if (number !== latest) return;
  note.className = answer.error ? "error" : "note";
  note.textContent = answer.error ?? "";
  record = answer.record ?? null;
  saveJson.disabled = record === null;
  // The server has escaped all text.
  document.querySelector("main").innerHTML = answer.html ?? "";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  parse();
});
form.elements.pipeline.addEventListener("change", parse);
form.elements.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse();
});
saveJson.addEventListener("click", () => {
  save("graph.json", "application/json", JSON.stringify(record, null, 2));
});
parse();
