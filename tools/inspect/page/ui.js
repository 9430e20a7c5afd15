// ui.js: elements, numbers as people read them, tables whose rows stay while their values change.
// Text goes in by textContent only: names come from the world.
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class') made.className = value;
    else if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key.startsWith('aria-') || key === 'role' || key === 'for' || key === 'colspan' || key === 'list') made.setAttribute(key, value);
    else made[key] = value;
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const groups = new Intl.NumberFormat('en-US');
export const count = (n) => groups.format(n);
const trim = (n) => (n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1');

export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < 4) { n /= 1024; at++; }
  return `${at === 0 ? n : trim(n)} ${units[at]}`;
}
export function ns(n) {
  if (n < 1000) return `${Math.round(n)} ns`;
  if (n < 1e6) return `${trim(n / 1e3)} \u00b5s`;
  if (n < 1e9) return `${trim(n / 1e6)} ms`;
  return `${trim(n / 1e9)} s`;
}
export const percent = (part, all) => (all > 0 ? `${trim(100 * part / all)} %` : '\u2013');
export const short = (n) => (n >= 1e9 ? `${trim(n / 1e9)} G` : n >= 1e6 ? `${trim(n / 1e6)} M` : n >= 1e4 ? `${trim(n / 1e3)} k` : trim(n));

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function tag(text, kind = '') { return el('span', { class: `tag ${kind}`.trim() }, text); }
export function tags(list) { return el('div', { class: 'tags' }, list.map((t) => (typeof t === 'string' ? tag(t) : t))); }

// Shares below `low` are drawn as a warning.
export function meter(share, text, low = 0) {
  const bar = el('i');
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el('span', { class: share < low ? 'meter warn' : 'meter', role: 'img', 'aria-label': text, title: text }, bar);
}

export function figures(pairs) {
  const list = el('dl', { class: 'figures' });
  updateFigures(list, pairs);
  return list;
}
export function updateFigures(list, pairs) {
  if (list.childElementCount !== pairs.length) {
    list.replaceChildren(...pairs.map(([name]) => el('div', {}, el('dt', {}, name), el('dd'))));
  }
  pairs.forEach(([name, value], i) => {
    setText(list.children[i].children[0], name);
    setText(list.children[i].children[1], String(value));
  });
}

export function panel(title, ...rest) {
  const head = el('header', {}, el('h2', {}, title));
  const made = el('section', { class: 'panel', 'aria-label': title }, head);
  made.append(...rest.filter(Boolean));
  made.head = head;
  return made;
}

export function empty(text, more) {
  return el('div', { class: 'empty' }, el('p', {}, text), more ? el('p', {}, more) : null);
}

// columns: [{title, number, sort (key for onSort), text(row) or draw(row) with state(row)}].
// Rows are matched by key(row); a cell is touched only when its text or state changed.
export class Table {
  constructor(columns, options = {}) {
    this.columns = columns;
    this.key = options.key || ((row, i) => i);
    this.rows = new Map();
    this.sort = options.sort;
    this.descending = options.descending !== false;
    this.onSort = options.onSort;
    this.body = el('tbody');
    this.heads = columns.map((c) => {
      const head = el('th', { scope: 'col', class: c.number ? 'number' : '' });
      head.append(c.sort && this.onSort ? el('button', { type: 'button', onclick: () => this.sortBy(c) }, c.title) : c.title);
      return head;
    });
    const table = el('table', {}, el('thead', {}, el('tr', {}, this.heads)), this.body);
    table.setAttribute('aria-label', options.label || '');
    this.node = el('div', { class: 'scroll', tabIndex: -1 }, table);
    this.showSort();
  }

  sortBy(column) {
    this.descending = this.sort === column.sort ? !this.descending : column.number === true;
    this.sort = column.sort;
    this.showSort();
    this.onSort(this.sort, this.descending);
  }

  showSort() {
    this.columns.forEach((c, i) => {
      if (c.sort && c.sort === this.sort) this.heads[i].setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
      else this.heads[i].removeAttribute('aria-sort');
    });
  }

  // `none` is shown when there are no rows.
  update(rows, none) {
    const seen = new Set();
    rows.forEach((row, i) => {
      const id = this.key(row, i);
      seen.add(id);
      let line = this.rows.get(id);
      if (!line) {
        line = { node: el('tr', {}, this.columns.map((c) => el('td', { class: `${c.number ? 'number' : ''} ${c.class || ''}`.trim() }))), states: [] };
        this.rows.set(id, line);
      }
      this.columns.forEach((c, k) => this.fill(c, line, k, row));
      if (this.body.children[i] !== line.node) this.body.insertBefore(line.node, this.body.children[i] || null);
    });
    for (const [id, line] of this.rows) if (!seen.has(id)) { line.node.remove(); this.rows.delete(id); }
    if (this.none) { this.none.remove(); this.none = null; }
    if (rows.length === 0 && none) {
      this.none = el('tr', {}, el('td', { colspan: String(this.columns.length) }, empty(none)));
      this.body.append(this.none);
    }
  }

  fill(column, line, k, row) {
    const cell = line.node.children[k];
    if (column.text) { setText(cell, column.text(row)); return; }
    const state = column.state ? column.state(row) : JSON.stringify(row);
    if (line.states[k] === state) return;
    line.states[k] = state;
    cell.replaceChildren(column.draw(row));
  }
}

// A field above a table: only rows with this part are shown.
export function partField(label, value, changed) {
  return el('input', { type: 'search', id: 'part', placeholder: label, value: value || '', autocomplete: 'off', spellcheck: false, 'aria-label': label, oninput: changed });
}
export const has = (text, part) => text.toLowerCase().includes(part.trim().toLowerCase());

// Sorts a copy by a key of the rows.
export function sorted(rows, key, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = a[key], y = b[key];
    return sign * (typeof x === 'string' ? x.localeCompare(y) : x - y);
  });
}

// Rows in the order in which the table shows them while the pointer is over it: nothing jumps away from
// under it. New ones come last.
export function steady(table, rows) {
  const by = `${table.sort}${table.descending}`, isHeld = table.heldBy === by && table.body.matches(':hover');
  table.heldBy = by;
  if (!isHeld) return rows;
  const place = new Map([...table.body.children].map((node, i) => [node, i]));
  const at = (row, i) => { const line = table.rows.get(table.key(row, i)); return line ? place.get(line.node) : Infinity; };
  return rows.map((row, i) => [at(row, i), row]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]);
}

const FRAME = { frame: '--strong-line', stage: '--line', segment: '--line', playback: '--s7' };

// A colour of the look for a span: frames and stages are quiet, others go by their number.
export function tone(name, number) {
  return FRAME[name] || `--s${[1, 2, 3, 4, 5, 6, 8][number % 7]}`;
}
