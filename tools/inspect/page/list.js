// list.js: a list of entities of any length: only the rows in sight are there. It goes on by itself, or
// is held: sorted and filtered lists are made once, of handles, and their values are read again each time.
import { el, Table, count, setText, empty } from '/ui.js';

const ROW = 31, ROWS = 50, MOST = 12e6; // px of a row; rows that are there; px that a browser scrolls at most

// A value of a component as a row of a list shows it: "x 1  y 2".
export function brief(value) {
  if (value === null || value === undefined) return el('span', { class: 'soft' }, '\u2013');
  if (typeof value !== 'object') return document.createTextNode(String(value));
  const line = el('span', { class: 'values' });
  const all = Object.entries(value), short = (text) => (text.length > 40 ? `${text.slice(0, 39)}\u2026` : text);
  for (const [name, v] of all.slice(0, 6)) line.append(`${name} `, el('b', {}, typeof v === 'object' && v !== null ? short(JSON.stringify(v)) : String(v)));
  if (all.length > 6) line.append(`and ${all.length - 6} more`);
  return line;
}

// `source()` says what is listed: {query} or {part}. `state` of the URL: from, sort, order, where, hold,
// columns. `changed(isStep)` keeps it and watches again; `pick(entity)` opens one; `refuse(text)` says
// why there is no list.
export class EntityList {
  constructor({ api, state, source, changed, pick, refuse, said }) {
    Object.assign(this, { api, source, changed, pick, refuse, said });
    this.from = Number(state.from) || 0;
    this.sort = state.sort || '';
    this.order = state.order || '';
    this.where = state.where || '';
    this.hold = state.hold || '';
    this.gone = state.lost || '';
    this.columns = state.columns ? state.columns.split(',') : [];
    this.total = 0;
    this.held = null; // {list, frame}
    this.shape = '';
    this.picked = null;
    this.pending = this.from || undefined;
    this.space = el('div', { class: 'space' });
    this.scroll = el('div', { class: 'scroll tall', tabIndex: 0, role: 'region', 'aria-label': 'Rows' }, this.space);
    this.at = 0; // px from the top, and px in sight: known without asking the layout ten times a second
    this.view = 500;
    this.scroll.addEventListener('scroll', () => { this.at = this.scroll.scrollTop; this.scrolled(); });
    this.sized = new ResizeObserver(([entry]) => { this.view = entry.contentRect.height; if (this.table) this.tell(); });
    this.sized.observe(this.scroll);
    this.say = el('span', { class: 'soft grow' });
    this.go = el('input', { type: 'text', class: 'few', inputMode: 'numeric', 'aria-label': 'Go to row', placeholder: 'row', onchange: () => { this.to(Number(this.go.value.replaceAll(',', '')) - 1 || 0); this.go.value = ''; } });
    this.holder = el('button', { type: 'button', title: 'Keep these rows, and see what becomes of them', onclick: () => this.set({ hold: 'yes' }) }, 'Hold');
    this.again = el('button', { type: 'button', title: 'Make the list again as of now', onclick: () => { this.held = null; this.changed(false); } }, 'Again');
    this.left = el('button', { type: 'button', title: 'Only what is dead or what the query selects no more', 'aria-pressed': 'false', onclick: () => this.lost() }, 'Lost since');
    this.live = el('button', { type: 'button', title: 'As it goes on, in the order of memory', onclick: () => this.set({ hold: '', gone: '', sort: '', order: '', where: '' }) }, 'Live');
    this.lately = el('button', { type: 'button', title: 'What this query lost in the last 100 frames and some more: dead, or without one of its components', 'aria-pressed': 'false', onclick: () => this.set({ gone: this.gone ? '' : 'yes', hold: '', sort: '', order: '' }) }, 'Lost lately');
    this.foot = el('footer', {}, this.say, this.go, this.holder, this.lately, this.left, this.again, this.live);
    this.filter = el('input', { type: 'text', id: 'where', value: this.where, placeholder: 'filter: Position.x > 3, name ~ sun', autocomplete: 'off', spellcheck: false, 'aria-label': 'Filter', onchange: () => this.set({ where: this.filter.value.trim() }) });
    this.choice = el('div', { class: 'menu-list' });
    this.choice.hidden = true;
    const open = el('button', { type: 'button', 'aria-expanded': 'false', onclick: () => { this.choice.hidden = !this.choice.hidden; open.setAttribute('aria-expanded', String(!this.choice.hidden)); if (!this.choice.hidden) this.offer(); } }, 'Columns');
    this.picker = el('div', { class: 'menu' }, open, this.choice);
  }

  state() {
    return { from: this.from || '', sort: this.sort, order: this.order, where: this.where, hold: this.hold, lost: this.gone, columns: this.columns.join() };
  }

  // Another query: from the start; what it was sorted by may be no more.
  reset() {
    this.from = 0;
    this.sort = this.order = '';
    this.pending = undefined;
    this.held = null;
    this.only = null;
    this.hold = this.gone = '';
    this.scroll.scrollTop = this.at = 0;
  }

  set(changes) {
    Object.assign(this, changes);
    this.filter.value = this.where;
    this.held = null;
    this.only = null;
    this.to(0, true);
    this.changed(true);
  }

  get isHeld() { return Boolean(this.sort || this.where || this.hold || this.gone); }

  sortBy(path) {
    const next = this.sort !== path ? { sort: path, order: '' } : this.order === '' ? { sort: path, order: 'down' } : { sort: '', order: '' };
    this.set(next);
  }

  async offer() {
    const { rows } = await this.api.ask({ do: 'components' });
    this.choice.replaceChildren(...rows.filter((r) => !['resource', 'chunk'].includes(r.kind)).map((r) => el('label', {}, el('input', {
      type: 'checkbox', checked: this.columns.includes(r.name), onchange: (e) => {
        this.columns = e.target.checked ? [...this.columns, r.name] : this.columns.filter((c) => c !== r.name);
        this.changed(true);
      } }), ` ${r.name}`)));
  }

  // Those of the held rows that are dead, or that the query selects no more.
  async lost() {
    if (this.only) { this.held = this.only; this.only = null; this.changed(false); return; }
    if (!this.held) return;
    try {
      const made = await this.api.ask({ do: 'freeze', of: this.held.list, left: true });
      this.only = this.held;
      this.held = made;
      this.to(0, true);
      this.changed(false);
    } catch (p) { this.refuse(p.message); }
  }

  // What is watched; a list that is to be held is made first.
  watch(also) {
    const from = this.from, columns = this.columns.length ? { columns: this.columns } : {};
    const take = (data) => this.update(data, from);
    if (!this.isHeld) {
      const source = this.source();
      also({ request: { do: source.part === undefined ? 'entities' : 'search', ...source, from, count: ROWS, ...columns }, update: take, refused: (p) => this.refuse(p.message) });
    } else if (this.held) {
      const take = (data) => { if (data.error) { this.held = this.only = null; this.changed(false); } else this.update(data, from); }; // 16 lists are kept
      also({ request: { do: 'rows', list: this.held.list, from, count: ROWS, columns: [...new Set([...this.ofQuery(), ...this.columns])] }, update: take, refused: (p) => this.refuse(p.message) });
    } else this.make();
  }

  // Components of the query: a held list shows them, too.
  ofQuery() {
    const { query = '' } = this.source();
    return query.split(/[,|]/).map((t) => t.trim()).filter((t) => t && !/^[!-]/.test(t)).map((t) => t.replace(/^[?+]\s*/, ''));
  }

  async make() {
    const mine = this.making = {};
    try {
      const made = await this.api.ask({ do: 'freeze', ...this.source(), ...(this.gone ? { lost: true } : {}), where: this.where, sort: this.sort, down: this.order === 'down' });
      if (this.making !== mine) return;
      this.held = made;
      this.changed(false);
    } catch (p) { if (this.making === mine) this.refuse(p.message); }
  }

  // ---- rows

  build(names, fields, chips) {
    const lines = [{ class: 'cut', title: el('button', { type: 'button', title: 'Sort by name', onclick: () => this.sortBy('name') }, 'Entity'), path: 'name',
      draw: (r) => el('span', {}, el('button', { type: 'button', class: 'link', onclick: () => this.pick(r.entity) }, r.name || r.entity), r.lost ? el('span', { class: 'tag bad' }, r.lost) : null), state: (r) => `${r.entity}${r.name || ''}${r.lost || ''}` }];
    if (chips) lines.push({ title: 'Has', draw: (r) => el('span', { class: 'chips' }, (r.has || []).map((c) => el('span', { class: 'tag' }, c))), state: (r) => (r.has || []).join() });
    const by = (name, list) => (list.length <= 3 ? list.map((f) => Object.assign(el('button', { type: 'button', title: `Sort by ${name}.${f}`, onclick: () => this.sortBy(`${name}.${f}`) }, f), { path: `${name}.${f}` }))
      : el('select', { 'aria-label': `Sort by a field of ${name}`, onchange: (e) => this.set({ sort: e.target.value, order: '' }) }, el('option', { value: '' }, '\u2195'), list.map((f) => el('option', { value: `${name}.${f}`, selected: this.sort === `${name}.${f}` }, f))));
    names.forEach((name, i) => lines.push({ title: el('span', {}, el('span', { class: 'of' }, name), el('span', { class: 'by' }, by(name, fields[i] || []))),
      class: 'cut', draw: (r) => brief(r.values[i]), state: (r) => JSON.stringify(r.values[i]) }));
    this.table = new Table(lines, { key: (r) => r.entity, label: 'Entities' });
    this.space.replaceChildren(this.table.node.firstChild);
    this.space.firstChild.classList.add('rows');
    this.showSort();
  }

  showSort() {
    for (const button of this.space.querySelectorAll('th button')) {
      const path = button.path || 'name', is = path === this.sort;
      button.classList.toggle('sorted', is);
      button.setAttribute('aria-pressed', String(is));
      button.dataset.way = is ? (this.order === 'down' ? '\u2193' : '\u2191') : '';
    }
  }

  update(data, from) {
    const names = data.columns || [], chips = !names.length, shape = JSON.stringify([names, data.fields]);
    if (shape !== this.shape || !this.table) { this.shape = shape; this.build(names, data.fields || [], chips); }
    this.total = data.total;
    this.over = data.columns_left_out ? `; ${data.columns_left_out} columns more are not shown` : '';
    this.shown = from;
    this.table.update(data.rows, this.said());
    this.space.firstChild.setAttribute('aria-rowcount', String(this.total));
    data.rows.forEach((r, i) => this.table.rows.get(r.entity).node.setAttribute('aria-rowindex', String(from + i + 1)));
    this.mark();
    this.place();
    this.tell();
    if (from >= this.total && from > 0) this.to(this.total - 1);
    else if (this.pending !== undefined) { const row = this.pending; this.pending = undefined; this.to(row); }
  }

  tell() {
    const top = this.top(), first = Math.floor(top), last = Math.min(this.total, Math.max(first + 1, Math.ceil(top + (this.view - ROW) / ROW - 0.01)));
    const of = !this.held || !this.isHeld ? '' : this.gone ? `, lost since frame ${count(this.held.frame)}` : `, as of frame ${count(this.held.frame)}`;
    setText(this.say, this.total === 0 ? `none${of}` : `${count(first + 1)} to ${count(last)} of ${count(this.total)}${of}${this.over}`);
    this.holder.hidden = this.isHeld;
    this.again.hidden = this.live.hidden = !this.isHeld;
    this.left.hidden = !this.isHeld || Boolean(this.gone);
    this.lately.hidden = (this.isHeld && !this.gone) || this.source().part !== undefined;
    this.lately.setAttribute('aria-pressed', String(Boolean(this.gone)));
    this.left.setAttribute('aria-pressed', String(Boolean(this.only)));
    this.go.hidden = this.total <= ROWS;
    this.showSort();
  }

  mark() { if (this.table) for (const [id, line] of this.table.rows) line.node.setAttribute('aria-selected', String(id === this.picked)); }

  clear() { this.space.replaceChildren(); this.table = null; this.shape = ''; this.space.style.height = ''; }

  // ---- where it is scrolled to

  get height() { return Math.min((this.total + 1) * ROW, MOST); }
  get scale() { return this.total > 0 && this.height === MOST ? (this.total + 1) * ROW / MOST : 1; }
  // The row at the top, with its fraction. It stays while rows come and go, until the next scroll.
  top() {
    if (this.at !== this.topAt) { this.topAt = this.at; this.topRow = this.at * this.scale / ROW; }
    return Math.min(Math.max(0, this.total - (this.view - ROW) / ROW), this.topRow);
  }

  place() {
    const above = this.at - (this.top() - this.shown) * ROW;
    const height = this.total > ROWS ? `${this.height}px` : '', padding = this.total > ROWS ? `${Math.max(0, Math.min(above, this.height - (this.table.rows.size + 1) * ROW))}px` : '';
    if (this.space.style.height !== height) this.space.style.height = height;
    if (this.space.style.paddingTop !== padding) this.space.style.paddingTop = padding;
  }

  scrolled() {
    if (!this.table || this.total <= ROWS) return;
    const first = Math.floor(this.top()), seen = Math.ceil(this.view / ROW);
    this.place();
    this.tell();
    const isIn = first >= this.shown && (first + seen <= this.shown + ROWS || this.shown + ROWS >= this.total);
    if (isIn && this.from === this.shown) return;
    const from = Math.max(0, Math.min(first - Math.max(0, Math.floor((ROWS - seen) / 2)), this.total - ROWS));
    if (from === this.from) return;
    this.from = from;
    if (this.timer) return;
    this.timer = setTimeout(() => { this.timer = 0; this.changed(false); }, 30); // one request for many wheels
  }

  to(row, isNow) {
    if (isNow) { this.from = 0; this.scroll.scrollTop = this.at = 0; return; }
    row = Math.max(0, Math.min(row, this.total - 1));
    this.scroll.scrollTop = row * ROW / this.scale;
    this.at = this.topAt = this.scroll.scrollTop;
    this.topRow = row;
    this.scrolled();
  }

  close() { clearTimeout(this.timer); this.sized.disconnect(); }
}
