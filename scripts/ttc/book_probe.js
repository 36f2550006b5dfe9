// Runs inside a page of the rendered book; returns what browser-test.py judges.
const main = document.querySelector("main");
if (!main) { return {missing: true}; }
for (const fold of main.querySelectorAll("details")) { fold.open = true; }
const width = document.documentElement.clientWidth;

function describe(element) {
  const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
  return `<${element.tagName.toLowerCase()}> "${text}"`;
}

// Inside something that scrolls or clips by itself, an element may be as wide as it likes.
function scrollsInside(element) {
  for (let box = element.parentElement; box && box !== main; box = box.parentElement) {
    if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(box).overflowX)) {
      return box.getBoundingClientRect().right <= width + 1;
    }
  }
  return false;
}

function tooWide() {
  const found = [];
  for (const element of main.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0 && box.right > width + 1 && !scrollsInside(element)) {
      found.push(`${describe(element)} ends at ${Math.round(box.right)} of ${width} px`);
    }
  }
  return found.slice(0, 3);
}

function parseColour(text) {
  const parts = text.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
  if (!parts) { throw new Error("cannot read the colour " + text); }
  return [Number(parts[1]), Number(parts[2]), Number(parts[3]), parts[4] === undefined ? 1 : Number(parts[4])];
}

function over(top, bottom) {
  return [0, 1, 2].map((i) => top[i] * top[3] + bottom[i] * (1 - top[3])).concat(1);
}

function background(element) {
  const layers = [];
  for (let box = element; box; box = box.parentElement) {
    const colour = parseColour(getComputedStyle(box).backgroundColor);
    if (colour[3] > 0) { layers.push(colour); }
    if (colour[3] === 1) { break; }
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
}

function opacity(element) {
  let value = 1;
  for (let box = element; box; box = box.parentElement) { value *= Number(getComputedStyle(box).opacity); }
  return value;
}

function luminance(colour) {
  const [r, g, b] = colour.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element) {
  const behind = background(element);
  const colour = parseColour(getComputedStyle(element).color);
  colour[3] *= opacity(element);
  const [low, high] = [luminance(over(colour, behind)), luminance(behind)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function faint(limit) {
  const found = new Map();
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    if (!texts.currentNode.textContent.trim() || box.width === 0 || element.closest(".buttons, script, style")) {
      continue;
    }
    const ratio = contrast(element);
    if (ratio < limit) { found.set(element.className + element.tagName, `${describe(element)} ${ratio.toFixed(2)}`); }
  }
  return [...found.values()].slice(0, 5);
}

return {
  theme: document.documentElement.className,
  links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
  brokenImages: [...new Set([...document.images].filter((i) => !(i.complete && i.naturalWidth > 0)).map((i) => i.src))],
  // mdBook 0.5 adds to each image the copy that a click enlarges
  images: main.querySelectorAll("img:not(.img-wrapper img)").length,
  code: [...main.querySelectorAll("pre > code")].filter((c) => c.textContent.trim()).length,
  pageScroll: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - width,
  tooWide: tooWide(),
  faint: faint(arguments[0]),
  height: document.documentElement.scrollHeight,
};
