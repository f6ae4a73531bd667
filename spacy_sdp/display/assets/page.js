"use strict";

// The picture as a separate file, without the highlighting of the page.
function svgOf(article) {
  const svg = article.querySelector("svg").cloneNode(true);
  for (const part of svg.querySelectorAll(".faint")) part.classList.remove("faint");
  return new XMLSerializer().serializeToString(svg);
}

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some browsers do not allow local files to use the clipboard.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-action]");
  if (!button) return;
  const article = button.closest("article");
  if (button.dataset.action === "save-svg") {
    save("graph.svg", "image/svg+xml", svgOf(article));
  } else if (button.dataset.action === "copy-svg") {
    await copy(svgOf(article));
    const name = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 1500);
  }
});

const filter = document.getElementById("filter");
if (filter) {
  const articles = [...document.querySelectorAll("article")];
  const labels = new Set();
  for (const part of document.querySelectorAll("[data-label]")) labels.add(part.dataset.label);
  for (const label of [...labels].sort()) filter.elements.label.add(new Option(label, label));

  const apply = () => {
    const text = filter.elements.text.value.trim().toLowerCase();
    const label = filter.elements.label.value;
    const onlyMistakes = filter.elements.mistakes?.checked;
    let shown = 0;
    for (const article of articles) {
      let matches = !text || article.dataset.text.toLowerCase().includes(text);
      if (onlyMistakes && !article.querySelector(".missed, .invented")) matches = false;
      let hasLabel = !label;
      for (const part of article.querySelectorAll("[data-label]")) {
        const same = !label || part.dataset.label === label;
        part.classList.toggle("faint", !same);
        hasLabel ||= same;
      }
      article.hidden = !(matches && hasLabel);
      if (!article.hidden) shown += 1;
    }
    const noun = articles.length === 1 ? "sentence" : "sentences";
    document.getElementById("count").textContent =
      shown === articles.length ? `${shown} ${noun}` : `${shown} of ${articles.length} ${noun}`;
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
