// fields.js: the values of one component, shown and edited field by field.
import { el, count, bytes, setText } from '/ui.js';
import { ask } from '/net.js';

const plain = (f) => (f.value.startsWith('"') ? JSON.parse(f.value) : f.value);
const isJson = (text) => { try { JSON.parse(text); return true; } catch { return false; } };

// ---- units: each is shown in the one that was last chosen for it
const PI = Math.PI, UNITS = {
  m: [['km', 1e3], ['mm', 1e-3], ['au', 149597870700]], s: [['ms', 1e-3], ['min', 60], ['h', 3600], ['day', 86400]], kg: [['g', 1e-3], ['t', 1e3]],
  rad: [['deg', PI / 180], ['rev', 2 * PI]], 'rad/s': [['deg/s', PI / 180], ['rev/min', PI / 30]], 'rad/min': [['rev/day', PI / 720], ['deg/min', PI / 180]],
  'm/s': [['km/s', 1e3], ['km/h', 1 / 3.6], ['kn', 1852 / 3600]], Pa: [['kPa', 1e3], ['bar', 1e5]], J: [['kJ', 1e3], ['MJ', 1e6]], W: [['kW', 1e3], ['MW', 1e6]], N: [['kN', 1e3]],
};
let chosen = {};
try { chosen = JSON.parse(localStorage.getItem('weft-units') || '{}'); } catch { /* private mode */ }
const unitOf = (f) => (UNITS[f.unit] || []).find(([name]) => name === chosen[f.unit]);
function nextUnit(unit) {
  const names = [unit, ...UNITS[unit].map(([name]) => name)];
  chosen[unit] = names[(names.indexOf(chosen[unit] || unit) + 1) % names.length];
  try { localStorage.setItem('weft-units', JSON.stringify(chosen)); } catch { /* private mode */ }
}
const convert = (value, by) => (Array.isArray(value) ? value.map((v) => convert(v, by)) : Number((value * by).toPrecision(9)));
// The text of a field as it is shown; and what was typed as it is written.
function text(f) {
  const unit = unitOf(f);
  return unit && isJson(f.value) ? JSON.stringify(convert(JSON.parse(f.value), 1 / unit[1])).replaceAll(',', ', ') : plain(f);
}
function written(f, typed) {
  const unit = unitOf(f), number = isJson(typed) && JSON.parse(typed);
  if (!unit || !isJson(typed)) return isJson(typed) && f.kind !== 'text' && f.kind !== 'enum' ? typed : JSON.stringify(typed);
  return JSON.stringify(Array.isArray(number) ? number.map((n) => `${n} ${unit[0]}`) : `${number} ${unit[0]}`);
}

// ---- lists of values as tables
export function valueTable(list, label) {
  const keys = [...new Set(list.flatMap((v) => (v && typeof v === 'object' ? Object.keys(v) : [''])))], cell = (v) => (v === undefined ? '' : typeof v === 'object' && v !== null ? JSON.stringify(v) : String(v));
  return el('div', { class: 'scroll low', tabIndex: 0, role: 'region', 'aria-label': label }, el('table', { 'aria-label': label }, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, '#'), keys.map((k) => el('th', { scope: 'col' }, k || 'value')))),
    el('tbody', {}, list.map((v, i) => el('tr', {}, el('td', { class: 'soft' }, String(i)), keys.map((k) => el('td', { class: 'mono' }, cell(k === '' ? v : v && v[k]))))))));
}
// A blob, or what is in one: lists as tables, the rest by name.
function blobNode(blob) {
  const parts = [el('span', { class: 'soft' }, `${bytes(blob.bytes)}, ${count(blob.references)} ${blob.references === 1 ? 'reference' : 'references'}${blob.mapped ? ', mapped' : ''}`)];
  if (blob.first) parts.push(el('code', {}, blob.first));
  const root = blob.root && typeof blob.root === 'object' && !Array.isArray(blob.root) ? blob.root : blob.root ? { '': blob.root } : {};
  for (const [name, v] of Object.entries(root)) parts.push(Array.isArray(v) ? el('div', {}, name, valueTable(v, name || 'content')) : el('span', {}, `${name} ${typeof v === 'object' ? JSON.stringify(v) : v}`));
  if (blob.root === null) parts.push(el('span', { class: 'soft' }, 'too long to be shown'));
  return el('div', { class: 'stack' }, parts);
}

// ---- colours: numbers from 0 to 1, or bytes
const isByte = (f) => /^[iu]8$/.test(f.kind);
const hex = (f) => `#${JSON.parse(f.value).slice(0, 3).map((v) => Math.max(0, Math.min(255, Math.round(isByte(f) ? v : v * 255))).toString(16).padStart(2, '0')).join('')}`;

// What was written, newest last: each takes itself back. `undone.changed` is called when that differs.
export const undone = { list: [], changed() {} };
// What the program changed since is told first; once more takes it back anyway.
export async function undo() {
  const one = undone.list.pop();
  undone.changed();
  try { if (one) await one.back(one.isTold); } catch (p) {
    if (p.status !== 409 || one.isTold) throw p;
    one.isTold = true;
    undone.list.push(one);
    undone.changed();
    throw new Error(`${one.text}: ${p.message}; Undo again takes it back anyway`);
  }
  return one ? one.text : '';
}

// `c` as the world tells it: {name, fields | raw | count and elements, more_fields}. `send(change, raw)`
// writes, gives what the world tells then, and throws what is refused; `pick(entity)` opens an entity; `tools(f)` gives buttons for a number, `back(f)` one for what a document can have. Gives {node, update(c), attempt(change)}.
export function values(c, { writable, pick, send, tools, back, entity = () => '' }) {
  const node = el('div', { class: 'fields' }), updates = [];
  const line = (name, text) => {
    const value = el('span', { class: 'value' });
    node.append(el('span', { class: 'name' }, name), value, el('span'));
    updates.push((now) => setText(value, text(now)));
  };
  if (c.fields) c.fields.forEach((f, at) => updates.push(field(f, at)));
  else if (c.raw !== undefined) line('bytes', (now) => String(now.raw));
  else if (c.count !== undefined) buffer();
  if (c.more_fields) node.append(el('span', { class: 'soft' }, `and ${count(c.more_fields)} fields more`));
  node.hidden = !node.childElementCount;

  // The first elements of a buffer, and more when they are asked for.
  function buffer() {
    const holder = el('div', { class: 'wide-field' }), say = el('span', { class: 'soft' }), more = el('button', { type: 'button', class: 'link', onclick: () => extend() }, 'more');
    let shown = '', extra = [], first = [], all = 0;
    node.append(holder);
    const draw = () => holder.replaceChildren(...(all ? [valueTable([...first, ...extra], `Elements of ${c.name}`)] : []), el('div', { class: 'row-gap' }, say, all > first.length + extra.length ? more : ''));
    async function extend() {
      try { extra = [...extra, ...(await ask({ do: 'elements', entity: entity(), component: c.name, from: first.length + extra.length })).elements]; draw(); } catch (p) { say.textContent = p.message; }
    }
    updates.push((now) => {
      const state = JSON.stringify([now.count, now.elements]);
      if (state === shown) return;
      shown = state;
      first = now.elements || [];
      if (now.count !== all) extra = [];
      all = now.count;
      setText(say, `${count(all)} ${all === 1 ? 'element' : 'elements'}`);
      draw();
    });
  }

  function field(f, at) {
    const title = f.text || '', name = f.path || 'value', id = `f-${c.name}-${name}`, shownUnit = el(UNITS[f.unit] ? 'button' : 'span', { class: UNITS[f.unit] ? 'unit link' : 'unit' }, f.unit || ''), unit = el('span', { class: 'last' }, shownUnit, tools && f.length === undefined && /^[iuf]\d/.test(f.kind) ? tools(f) : null, back && !f.fixed && !['blob', 'entity', 'bytes'].includes(f.kind) ? back(f) : null);
    if (UNITS[f.unit]) Object.assign(shownUnit, { type: 'button', title: 'Show it in another unit', onclick: () => { nextUnit(f.unit); if (last) update(last, true); } });
    const still = (made) => {
      node.append(el('span', { class: 'name', title }, name), made, unit);
      return (now) => { setText(made, text(now.fields[at])); setText(shownUnit, (unitOf(f) || [f.unit || ''])[0]); };
    };
    if (f.kind === 'blob') {
      const made = el('div', { class: 'value' });
      let shown = '';
      node.append(el('span', { class: 'name', title }, name), made, unit);
      return (now) => {
        const { blob } = now.fields[at], state = JSON.stringify(blob || 0);
        if (state !== shown) { shown = state; made.replaceChildren(blob ? blobNode(blob) : 'none'); }
      };
    }
    if (f.kind === 'entity' && f.length === undefined) return entityField(f, at, name, title, id, unit);
    if (f.kind === 'bits' && f.constants && f.length === undefined) return bitsField(f, at, name, title, unit);
    if (!writable || f.fixed || f.kind === 'bytes') {
      if (!f.colour || !(f.length >= 3)) return still(el('span', { class: 'value' }));
      const patch = el('span', { class: 'swatch', role: 'img', 'aria-label': `Colour ${c.name}.${name}` }), show = still(el('span', { class: 'value' }));
      unit.prepend(patch);
      return (now) => { show(now); patch.style.background = hex(now.fields[at]); };
    }
    const isText = f.value.startsWith('"') && f.kind === 'text';
    const input = f.kind === 'enum' && f.constants ? el('select', { id }, f.constants.map((k) => el('option', { value: k }, k)))
      : f.kind === 'bool' && f.length === undefined ? el('input', { type: 'checkbox', id }) : el('input', { type: 'text', id, autocomplete: 'off' });
    if (f.least !== undefined) input.title = `${f.least} to ${f.most}`;
    const swatch = f.colour && f.length >= 3 ? el('input', { type: 'color', class: 'swatch', 'aria-label': `Colour ${c.name}.${name}`, onchange: () => {
      const rgb = [1, 3, 5].map((k) => parseInt(swatch.value.slice(k, k + 2), 16)).map((v) => (isByte(f) ? v : Number((v / 255).toPrecision(6))));
      input.value = JSON.stringify([...rgb, ...JSON.parse(latest.fields[at].value).slice(3)]);
      commit();
    } }) : null;
    node.append(el('label', { for: id, title }, name), input, unit);
    if (swatch) unit.prepend(swatch);
    let edited = false, latest = null; // Enter or leaving the field writes what was typed; Escape takes it back
    const show = (now, takesBack) => {
      latest = now;
      if (edited || (!takesBack && input.hasAttribute('aria-invalid'))) return; // what was typed stays
      if (!takesBack && document.activeElement === input && input.type === 'text') return;
      const value = text(now.fields[at]);
      setText(shownUnit, (unitOf(f) || [f.unit || ''])[0]);
      if (swatch && document.activeElement !== swatch) swatch.value = hex(now.fields[at]);
      if (input.type === 'checkbox') input.checked = value === 'true';
      else if (input.value !== value) { input.value = value; if (input.type === 'text' && f.least === undefined) input.title = value; }
    };
    // Numbers and lists go as they were typed (53 bits are fewer than 64); else it is a text: "400 km".
    const commit = () => {
      const typed = input.value;
      edited = false;
      const before = latest && latest.fields[at].value;
      attempt({ path: f.path }, input, { value: input.type === 'checkbox' ? String(input.checked) : isText ? JSON.stringify(typed) : written(f, typed) }, before);
    };
    input.addEventListener('input', () => { edited = true; calm(input); });
    input.addEventListener('change', () => { if (edited || input.type !== 'text') commit(); });
    input.addEventListener('blur', () => { if (latest) show(latest); });
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      edited = false;
      calm(input);
      if (latest) show(latest, true);
      input.select?.();
    });
    return show;
  }

  // A link to the entity; and, to write another one, a field that searches names.
  function entityField(f, at, name, title, id, unit) {
    const go = el('button', { type: 'button', class: 'link', onclick: () => pick(go.dataset.entity) }), names = el('datalist', { id: `${id}-names` });
    const input = el('input', { type: 'text', id, list: `${id}-names`, autocomplete: 'off', spellcheck: false, placeholder: 'name or 12:3' });
    const change = el('button', { type: 'button', class: 'tiny', title: 'Another entity', 'aria-label': `Change ${c.name}.${name}`, onclick: () => { input.hidden = !input.hidden; input.focus(); } }, '\u270e');
    input.hidden = true;
    input.addEventListener('input', async () => {
      const part = input.value.trim();
      if (!part || /^\d+:\d+$/.test(part)) return;
      try { names.replaceChildren(...(await ask({ do: 'search', part, count: 20 })).rows.map((r) => el('option', { value: r.name }, r.entity))); } catch { /* none is offered */ }
    });
    input.addEventListener('keydown', (e) => { if (e.key === 'Escape') { input.hidden = true; calm(input); } });
    input.addEventListener('change', async () => {
      const before = last && last.fields[at].value;
      await attempt({ path: f.path }, input, { value: JSON.stringify(input.value.trim()) }, before);
      if (!input.hasAttribute('aria-invalid')) { input.hidden = true; input.value = ''; }
    });
    node.append(el(writable && !f.fixed ? 'label' : 'span', { class: 'name', for: id, title }, name), el('span', { class: 'value' }, go, ...(writable && !f.fixed ? [change, input, names] : [])), unit);
    return (now) => {
      const value = plain(now.fields[at]);
      go.dataset.entity = value;
      setText(go, value === '0:0' ? 'none' : now.fields[at].name ? `${now.fields[at].name} (${value})` : value);
      go.disabled = value === '0:0';
    };
  }

  function bitsField(f, at, name, title, unit) {
    const made = el('span', { class: 'value choices', role: 'group', 'aria-label': `${c.name}.${name}` }), split = (now) => plain(now.fields[at]).split('|').map((w) => w.trim()).filter((w) => w && w !== '0');
    const boxes = f.constants.map((k) => el('input', { type: 'checkbox', disabled: !writable || f.fixed, 'aria-label': `${c.name}.${name} ${k}`, onchange: () => {
      const before = last.fields[at].value, others = split(last).filter((w) => !f.constants.includes(w));
      const value = [...f.constants.filter((_, i) => boxes[i].checked), ...others].join(' | ') || '0';
      attempt({ path: f.path }, made, { value: isJson(value) ? value : JSON.stringify(value) }, before);
    } }));
    made.append(...f.constants.map((k, i) => el('label', {}, boxes[i], ` ${k}`)));
    node.append(el('span', { class: 'name', title }, name), made, unit);
    return (now) => { const on = split(now); boxes.forEach((box, i) => { box.checked = on.includes(f.constants[i]); }); };
  }

  // No mark stays beside a value that is good.
  function calm(input) {
    node.querySelectorAll('.problem, .written').forEach((p) => p.remove());
    if (input) input.removeAttribute('aria-invalid');
  }

  // `before`: what stood there, for Undo.
  async function attempt(change, input, raw, before) {
    calm(input);
    try {
      const told = await send(change, raw);
      if (before) {
        const mine = told.components ? told.components.find((k) => k.name === c.name) : told, was = mine.fields.find((f) => f.path === change.path).value;
        undone.list.push({ text: `${c.name}.${change.path || 'value'}`, back: (anyway) => send(change, anyway ? { value: before } : { value: before, was }) });
        undone.changed();
      }
      if (!input) return;
      const say = el('span', { class: 'written', role: 'status' }, 'written');
      input.nextSibling.append(say);
      setTimeout(() => say.remove(), 2000);
    } catch (p) {
      const say = el('p', { class: 'problem', role: 'alert' }, p.message);
      node.hidden = false;
      if (input) { input.setAttribute('aria-invalid', 'true'); input.nextSibling.after(say); } else node.append(say);
    }
  }

  let last = null;
  function update(now, isAgain) { last = now; updates.forEach((u) => u(now, isAgain)); }
  return { node, attempt, update };
}
