// What tests/display/test_browser.py asks of a page.
"use strict";

const probes = {
  // Pairs of texts in a picture that overlap, and texts that leave it.
  overlaps() {
    const found = [];
    for (const svg of document.querySelectorAll("svg")) {
      const frame = svg.getBoundingClientRect();
      if (!frame.width) continue;
      const texts = [...svg.querySelectorAll("text")];
      const boxes = texts.map((element) => element.getBoundingClientRect());
      for (const [i, box] of boxes.entries()) {
        const text = texts[i].textContent;
        if (box.width === 0) found.push(["unseen", text]);
        if (box.left < frame.left || box.right > frame.right) found.push(["outside", text]);
        if (box.top < frame.top || box.bottom > frame.bottom) found.push(["outside", text]);
        for (let j = i + 1; j < boxes.length; j += 1) {
          const other = boxes[j];
          // The box of a line of text is higher than its letters.
          const apart = 4;
          const inRow = box.top + apart < other.bottom && other.top + apart < box.bottom;
          if (inRow && box.left < other.right && other.left < box.right)
            found.push([text, texts[j].textContent]);
        }
      }
    }
    return found;
  },

  // What is wider than the window or its own box.
  tooWide() {
    const width = document.documentElement.clientWidth;
    const found = document.documentElement.scrollWidth > width ? ["page"] : [];
    for (const element of document.querySelectorAll("header *, .tables, .tables *, footer *")) {
      if (element.closest(".examples")) continue;
      if (element.getBoundingClientRect().right > width + 1) found.push(element.outerHTML);
    }
    for (const box of document.querySelectorAll(".picture, .tables")) {
      if (box.scrollWidth > box.clientWidth) found.push(box.className);
    }
    return found;
  },

  filter(text, label) {
    filter.elements.text.value = text;
    filter.elements.label.value = label;
    filter.dispatchEvent(new Event("input"));
    return {
      texts: shownArticles().map((article) => article.dataset.text.slice(0, 3)),
      count: document.getElementById("count").textContent,
    };
  },

  // What is highlighted.
  lit() {
    const texts = (selector) =>
      [...document.querySelectorAll(selector)]
        .filter((element) => element.getClientRects().length)
        .map((element) => element.textContent);
    return {
      words: texts(".word.lit"),
      labels: texts(".label.lit"),
      phrases: texts(".phrase.lit"),
      tip: tip.hidden ? "" : tip.textContent,
    };
  },

  // The least contrast between a colour of text and the background.
  contrast() {
    const style = getComputedStyle(document.documentElement);
    const luminance = (name) => {
      const color = style.getPropertyValue(name).trim();
      const [red, green, blue] = [1, 3, 5].map((i) => {
        const part = parseInt(color.slice(i, i + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const back = luminance("--card");
    const names = ["--text", "--quiet", "--accent", "--match", "--missed", "--invented"];
    return Object.fromEntries(
      names.map((name) => {
        const [low, high] = [luminance(name), back].sort((a, b) => a - b);
        return [name, (high + 0.05) / (low + 0.05)];
      }),
    );
  },
};
