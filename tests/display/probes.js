// What tests/test_browser.py asks of a page. The results become JSON.
"use strict";

const probes = {
  // Pairs of texts in a picture that overlap, and texts that leave it.
  overlaps() {
    const found = [];
    for (const svg of document.querySelectorAll("svg")) {
      const frame = svg.getBoundingClientRect();
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

  filter() {
    const form = document.getElementById("filter");
    const apply = (text, label) => {
      form.elements.text.value = text;
      form.elements.label.value = label;
      form.dispatchEvent(new Event("input"));
      const shown = [...document.querySelectorAll("article:not([hidden])")];
      return {
        texts: shown.map((article) => article.dataset.text.slice(0, 3)),
        count: document.getElementById("count").textContent,
      };
    };
    const pairs = [["", ""], ["SHY", ""], ["猫想", ""], ["", "Exp"], ["shy", "Exp"], ["", ""]];
    const results = pairs.map(([text, label]) => apply(text, label));
    apply("", "BV");
    return {
      results,
      labels: [...form.elements.label.options].map((option) => option.value),
      faint: document.querySelectorAll("article:not([hidden]) g.faint").length,
      copied: svgOf(document.querySelector("article")),
    };
  },

  scrolling() {
    const picture = document.querySelectorAll(".picture")[1];
    return {
      picture: picture.scrollWidth > picture.clientWidth,
      page: document.documentElement.scrollWidth > window.innerWidth,
    };
  },

  async typing() {
    const until = async (done) => {
      while (!done()) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const words = () => [...document.querySelectorAll(".word")].map((e) => e.textContent);
    await until(() => words().length);
    const first = words();
    form.elements.text.value = "<i>Dogs</i> bark & purr";
    form.requestSubmit();
    await until(() => words().includes("purr"));
    const second = words();
    const overlaps = probes.overlaps();
    const saved = record.text;
    form.elements.text.value = "";
    form.elements.pipeline.selectedIndex = 1;
    form.elements.pipeline.dispatchEvent(new Event("change"));
    await until(() => note.className === "error");
    return { first, second, overlaps, saved, error: note.textContent, left: words() };
  },
};
