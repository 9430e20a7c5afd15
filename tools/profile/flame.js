/* SPDX-License-Identifier: MIT */
/* flame.js: the script inside of a flame graph (flame.py): zoom, search, labels that fit.
   Each box is <g class="b" data-b="X SHARE DEPTH"> with X and SHARE of the whole; `look` has the measures. */
"use strict";
const boxes = [...document.querySelectorAll("g.b")].map(g => {
  const [x, share, depth] = g.dataset.b.split(" ").map(Number);
  const title = g.querySelector("title").textContent;
  const name = title.slice(0, title.lastIndexOf(": "));
  return { g, x, share, depth, title, name, rect: g.querySelector("rect"), text: g.querySelector("text") };
});
const status_line = document.getElementById("status"), found_line = document.getElementById("found");
const help = status_line.textContent;
let zoomed = boxes[0];

function label(name, width) {
  const room = Math.floor((width - 6) / look.character);
  if (name.length <= room) return name;
  return room >= 4 ? name.slice(0, room - 1) + "\u2026" : "";
}

/* Shows `box` over the whole width, what it calls above it and its callers below. */
function zoom(box) {
  zoomed = box;
  const end = box.x + box.share, small = 1e-6;
  for (const b of boxes) {
    const is_inside = b.x >= box.x - small && b.x + b.share <= end + small && b.depth >= box.depth;
    const is_caller = b.depth < box.depth && b.x <= box.x + small && b.x + b.share >= end - small;
    b.g.style.display = is_inside || is_caller ? "" : "none";
    b.g.classList.toggle("parent", is_caller);
    if (!is_inside && !is_caller) continue;
    const x = is_caller ? 0 : (b.x - box.x) / box.share, share = is_caller ? 1 : b.share / box.share;
    const width = Math.max(0.3, share * look.span), left = look.margin + x * look.span;
    b.rect.setAttribute("x", left);
    b.rect.setAttribute("width", width);
    b.text.setAttribute("x", left + 4);
    b.text.textContent = label(b.name, width);
  }
}

/* Marks boxes whose name matches and says their share, each sample once. */
function search(text) {
  let pattern = null;
  try { pattern = text === "" ? null : new RegExp(text, "i"); } catch (error) { pattern = null; }
  let spans = [];
  for (const b of boxes) {
    const is_found = pattern !== null && b.depth > 0 && pattern.test(b.name);
    b.g.classList.toggle("found", is_found);
    if (is_found) spans.push([b.x, b.x + b.share]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  let share = 0, last = 0;
  for (const [begin, end] of spans) {
    share += Math.max(0, end - Math.max(begin, last));
    last = Math.max(last, end);
  }
  found_line.textContent = pattern === null ? "" : `matched: ${(100 * share).toFixed(2)} %`;
}

const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
input.type = "search";
input.placeholder = "search (regular expression)";
input.setAttribute("aria-label", "search");
input.addEventListener("input", () => search(input.value));
document.getElementById("search").appendChild(input);

for (const b of boxes) {
  b.g.addEventListener("click", () => zoom(b));
  b.g.addEventListener("mouseenter", () => { status_line.textContent = b.title; });
  b.g.addEventListener("mouseleave", () => { status_line.textContent = help; });
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") { input.value = ""; search(""); input.blur(); zoom(boxes[0]); }
  if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
});
