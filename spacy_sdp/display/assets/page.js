"use strict";

const filter = document.getElementById("filter");
const tip = document.getElementById("tip");
const explanations = JSON.parse(document.getElementById("explanations").textContent);
// The data for "Save JSON", unless it is collected from the page.
let record = null;

function shownArticles() {
  return [...document.querySelectorAll("article:not([hidden])")];
}

// Saving

function save(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
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

// The narrow or wide drawing, whichever fits the screen.
function drawingOf(article) {
  return [...article.querySelectorAll("svg")].find((svg) => svg.getClientRects().length);
}

// The picture as a separate file, without the highlighting of the page.
function svgOf(article) {
  const svg = drawingOf(article).cloneNode(true);
  for (const part of svg.querySelectorAll("[class]")) {
    part.classList.remove("faint", "lit", "source");
  }
  const style = document.createElementNS(svg.namespaceURI, "style");
  style.textContent = document.getElementById("picture-style").textContent;
  svg.querySelector("title").after(style);
  return new XMLSerializer().serializeToString(svg);
}

async function pngOf(article) {
  const { width, height } = drawingOf(article).viewBox.baseVal;
  const image = new Image(width, height);
  image.src = URL.createObjectURL(new Blob([svgOf(article)], { type: "image/svg+xml" }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = document.createElement("canvas");
  // Sharp on screens with twice as many pixels.
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

// One edge of each arc: arcs between rows have two.
function edgesOf(svg) {
  const edges = new Map();
  for (const edge of svg?.querySelectorAll(".edge") ?? []) edges.set(edge.dataset.arc, edge);
  return [...edges.values()].sort((one, other) => one.dataset.arc - other.dataset.arc);
}

function arcsOf(article) {
  return edgesOf(article.querySelector("svg")).map(({ classList, dataset }) => ({
    head: Number(dataset.head),
    dep: Number(dataset.dep),
    label: dataset.label,
    ...(dataset.score && { score: Number(dataset.score) }),
    ...(classList[1] && { kind: nameOf(classList[1]) }),
  }));
}

function wordsOf(article) {
  return [...(article.querySelector("svg")?.querySelectorAll(".word") ?? [])];
}

// The meaning of a colour in a comparison.
function nameOf(kind) {
  return document.querySelector(`.legend .${kind}`)?.textContent;
}

function rowsOf(article) {
  return [...article.querySelectorAll("[data-row]")].map((row) => ({
    ...(row.className && { graph: row.closest("table").caption.textContent }),
    ...JSON.parse(row.dataset.row),
  }));
}

function toJson() {
  if (record) return record;
  return shownArticles().map((article) => ({
    text: article.dataset.text,
    words: wordsOf(article).map((word) => word.textContent),
    tops: wordsOf(article).flatMap((word, i) => (word.matches(".top") ? [i] : [])),
    arcs: arcsOf(article),
    // Graphs of other formalisms and graphs without tags have no table of clauses.
    ...(article.querySelector(".clauses") && { clauses: rowsOf(article) }),
  }));
}

// The clauses, or the arcs of a formalism without clauses.
function toCsv() {
  let rows = shownArticles().flatMap(rowsOf);
  if (!rows.length) {
    rows = shownArticles().flatMap((article) => {
      const words = wordsOf(article);
      return arcsOf(article).map((arc) => ({
        predicate: words[arc.head].textContent,
        label: arc.label,
        argument: words[arc.dep].textContent,
        sentence: article.dataset.text,
      }));
    });
  }
  // Missing values are empty cells.
  const quote = (value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => Object.values(row));
  if (rows.length) lines.unshift(Object.keys(rows[0]));
  return lines.map((line) => `${line.map(quote).join(",")}\r\n`).join("");
}

const actions = {
  "copy-svg": (article) => copy(svgOf(article)),
  "copy-link": () => copy(location.href),
  "save-svg": (article) => save("graph.svg", new Blob([svgOf(article)], { type: "image/svg+xml" })),
  "save-png": async (article) => save("graph.png", await pngOf(article)),
  "save-json": () =>
    save("graphs.json", new Blob([JSON.stringify(toJson(), null, 2)], { type: "application/json" })),
  "save-csv": () => save("clauses.csv", new Blob([toCsv()], { type: "text/csv" })),
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-action]");
  if (!button) return;
  await actions[button.dataset.action](button.closest("article"), button);
  if (!button.dataset.action.startsWith("copy")) return;
  const name = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = name; }, 1500);
});

// Highlighting: an arc with its words, a word with its arcs, a phrase or a clause with
// its words.

let lit = null;
// Set by a click or tap: ignore the pointer.
let pinned = false;

const TARGETS = ".edge, .label, .word, .phrase, tr[data-row]";
// Lines are thin, so look around the pointer.
const AROUND = [[0, 0], [0, -5], [0, 5], [-5, 0], [5, 0], [-4, -4], [4, -4], [-4, 4], [4, 4]];

function targetAt(event) {
  const found = event.target.closest?.(TARGETS);
  if (found || !event.target.closest?.("svg")) return found ?? null;
  for (const [x, y] of AROUND) {
    const near = document.elementFromPoint(event.clientX + x, event.clientY + y)?.closest(TARGETS);
    if (near && event.target.closest("article").contains(near)) return near;
  }
  return null;
}

function indicesOf(element) {
  const phrases = element.matches(".phrase") ? [element] : element.querySelectorAll(".phrase");
  return new Set([...phrases].flatMap((phrase) => phrase.dataset.words.trim().split(" ")));
}

function light(element) {
  if (element === lit) return;
  if (lit) {
    for (const part of lit.closest("article").querySelectorAll(".lit, .source")) {
      part.classList.remove("lit", "source");
    }
  }
  lit = element;
  tip.hidden = true;
  if (!element) return;
  const article = element.closest("article");
  const edges = edgesOf(drawingOf(article));
  const { arc, word } = element.dataset;
  let sources, chosen;
  if (arc) {
    chosen = edges.filter((edge) => edge.dataset.arc === arc);
    sources = new Set([chosen[0].dataset.head, chosen[0].dataset.dep]);
  } else if (word) {
    sources = new Set([word]);
    chosen = edges.filter(({ dataset }) => dataset.head === word || dataset.dep === word);
  } else {
    sources = indicesOf(element);
    chosen = edges.filter(({ dataset }) => sources.has(dataset.head) && sources.has(dataset.dep));
  }
  const arcs = new Set(chosen.map((edge) => edge.dataset.arc));
  const words = new Set([...sources, ...chosen.flatMap(({ dataset }) => [dataset.head, dataset.dep])]);
  article.querySelector(".picture")?.classList.add("lit");
  for (const part of article.querySelectorAll("svg :is(.edge, .label, .word)")) {
    const { dataset } = part;
    part.classList.toggle("lit", dataset.word ? words.has(dataset.word) : arcs.has(dataset.arc));
    part.classList.toggle("source", sources.has(dataset.word));
  }
  for (const phrase of article.querySelectorAll(".phrase")) {
    const isSource = word ? indicesOf(phrase).has(word) : phrase === element;
    phrase.classList.toggle("lit", isSource);
  }
  if (arc) showTip(describe(chosen[0]));
  if (word) showTip(chosen.map(summarize).join("\n"));
}

function textOf(article, word) {
  return article.querySelector(`.word[data-word="${word}"]`).textContent;
}

function summarize(edge) {
  const { head, dep, label, score } = edge.dataset;
  const article = edge.closest("article");
  let percent = "";
  if (score) {
    // Few probabilities are 1, but many are close to it.
    const rounded = Math.min(Math.round(100 * score), score < 1 ? 99 : 100);
    percent = ` (${score > 0.99 && score < 1 ? ">" : ""}${rounded}%)`;
  }
  return `${textOf(article, head)} → ${label} → ${textOf(article, dep)}${percent}`;
}

function describe(edge) {
  const kind = edge.classList[1];
  const lines = [summarize(edge)];
  if (["match", "missed", "invented"].includes(kind)) lines.push(nameOf(kind));
  const explained = edge.closest("[data-explained]") && explanations[edge.dataset.label];
  if (explained) lines.push(explained);
  return lines.join("\n");
}

function showTip(text) {
  tip.textContent = text;
  tip.hidden = !text;
  placeTip();
}

function placeTip() {
  if (tip.hidden) return;
  // The line of an arc is wide: point at its label.
  const { arc } = lit.dataset;
  const anchor = arc ? lit.closest("svg").querySelector(`.label[data-arc="${arc}"]`) : lit;
  const box = anchor.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const x = (box.left + box.right - width) / 2;
  const right = document.documentElement.clientWidth - width - 8;
  tip.style.left = `${Math.max(8, Math.min(x, right))}px`;
  const above = box.top - height - 8;
  tip.style.top = `${arc && above > 0 ? above : box.bottom + 8}px`;
}

document.addEventListener("pointermove", (event) => {
  if (event.pointerType !== "touch" && !pinned) light(targetAt(event));
});
document.addEventListener("click", (event) => {
  const target = targetAt(event);
  pinned = target !== null && !(pinned && target === lit);
  light(pinned ? target : null);
});
// Pictures scroll, too.
document.addEventListener("scroll", placeTip, { capture: true, passive: true });
document.addEventListener("focusin", (event) => {
  if (event.target.matches(".phrase:focus-visible")) light(event.target);
});
document.addEventListener("focusout", (event) => {
  if (event.target.matches(".phrase, .picture") && !pinned) light(null);
});

// Left and right move between words, up and down between the arcs of a word.
let word = 0;
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    pinned = false;
    light(null);
  }
  if (!event.target.matches(".picture")) return;
  const svg = drawingOf(event.target);
  const isHere = lit && svg.contains(lit);
  const words = [...svg.querySelectorAll(".word")];
  const moves = {
    ArrowLeft: isHere ? word - 1 : words.length - 1,
    ArrowRight: isHere ? word + 1 : 0,
    Home: 0,
    End: words.length - 1,
  };
  let target;
  if (event.key in moves) {
    word = Math.max(0, Math.min(moves[event.key], words.length - 1));
    target = words[word];
  } else if (isHere && ["ArrowUp", "ArrowDown"].includes(event.key)) {
    const own = edgesOf(svg).filter(
      ({ dataset }) => Number(dataset.head) === word || Number(dataset.dep) === word,
    );
    // The word itself is between its first and its last arc.
    const ring = [words[word], ...own];
    const step = event.key === "ArrowUp" ? 1 : ring.length - 1;
    target = ring[(Math.max(0, ring.indexOf(lit)) + step) % ring.length];
  }
  if (!target) return;
  event.preventDefault();
  pinned = false;
  target.scrollIntoView({ block: "nearest", inline: "nearest" });
  light(target);
});

// The filter

function applyFilter() {
  const { text, label, differences } = filter.elements;
  const wanted = text?.value.trim().toLowerCase() ?? "";
  const articles = [...document.querySelectorAll("article")];
  for (const article of articles) {
    let matches = article.dataset.text.toLowerCase().includes(wanted);
    if (differences?.checked && !article.querySelector(".missed, .invented")) matches = false;
    let hasLabel = !label.value;
    for (const part of article.querySelectorAll("[data-label]")) {
      const same = !label.value || part.dataset.label === label.value;
      part.classList.toggle("faint", !same);
      hasLabel ||= same;
    }
    article.hidden = !(matches && hasLabel);
  }
  const shown = shownArticles().length;
  const noun = articles.length === 1 ? "sentence" : "sentences";
  document.getElementById("count").textContent =
    shown === articles.length ? `${shown} ${noun}` : `${shown} of ${articles.length} ${noun}`;
}

// List the labels of the page.
function updateFilter() {
  const { label } = filter.elements;
  const chosen = label.value;
  const parts = document.querySelectorAll("article [data-label]");
  const labels = [...new Set([...parts].map((part) => part.dataset.label))].sort();
  label.length = 1;
  for (const each of labels) label.add(new Option(each, each));
  label.value = labels.includes(chosen) ? chosen : "";
  applyFilter();
}

// The address has the state of the page, so that a link can be shared.
function writeAddress(state) {
  const filled = Object.entries(state).filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(filled)}`);
}

function readAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

filter.addEventListener("input", applyFilter);
filter.addEventListener("submit", (event) => event.preventDefault());

if (filter.elements.text) {
  const { text, label } = filter.elements;
  const read = () => {
    const state = readAddress();
    text.value = state.text ?? "";
    label.value = state.label ?? "";
    if (label.selectedIndex < 0) label.value = "";
    applyFilter();
  };
  updateFilter();
  read();
  addEventListener("hashchange", read);
  filter.addEventListener("input", () => writeAddress({ text: text.value, label: label.value }));
}
