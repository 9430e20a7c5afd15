// worker.js: one stream for all pages of a browser that look at one program. A page says what it
// watches; what several watch is asked once.
import { Stream } from '/net.js';

const pages = new Map(); // port -> {serial, list, seen}
let state = null;

function toAll(message) { for (const port of pages.keys()) port.postMessage(message); }

const stream = new Stream((kind, text) => {
  state = { state: kind, text };
  toAll(state);
});

function merge() {
  const wanted = new Map(); // text of a request -> who wants it
  for (const [port, page] of pages) {
    page.list.forEach((request, index) => {
      const text = JSON.stringify(request);
      if (!wanted.has(text)) wanted.set(text, []);
      wanted.get(text).push({ port, serial: page.serial, index });
    });
  }
  stream.watch([...wanted].map(([text, whom]) => ({
    request: JSON.parse(text),
    update: (data) => whom.forEach(({ port, serial, index }) => port.postMessage({ serial, index, data })),
    refused: (problem) => whom.forEach(({ port, serial, index }) => port.postMessage({ serial, index, problem: problem.message })),
  })));
}

function leave(port) { if (pages.delete(port)) merge(); }

self.onconnect = ({ ports: [port] }) => {
  pages.set(port, { serial: 0, list: [], seen: Date.now() });
  if (state) port.postMessage(state);
  port.onmessage = ({ data: message }) => {
    if (message.leaves) { leave(port); return; }
    const page = pages.get(port) || { serial: 0, list: [] };
    page.seen = Date.now();
    if (message.list) {
      Object.assign(page, { serial: message.serial, list: message.list });
      pages.set(port, page);
      merge();
    }
  };
};

// A page that was killed says nothing: it answers no more.
setInterval(() => {
  for (const [port, page] of pages) if (Date.now() - page.seen > 60000) leave(port);
  toAll({ ping: true });
}, 10000);
