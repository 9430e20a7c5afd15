// fields.js: the values of one component, shown and edited field by field.
import { el, count, setText } from '/ui.js';

const plain = (f) => (f.value.startsWith('"') ? JSON.parse(f.value) : f.value);
const isJson = (text) => { try { JSON.parse(text); return true; } catch { return false; } };

// What was written, newest last: each takes itself back. `undone.changed` is called when that differs.
export const undone = { list: [], changed() {} };
export async function undo() {
  const one = undone.list.pop();
  undone.changed();
  if (one) await one.back();
  return one ? one.text : '';
}

// `c` as the world tells it: {name, fields | raw | count and elements, more_fields}. `send(change, raw)`
// writes and throws what is refused; `pick(entity)` opens an entity; `tools(f)` gives buttons for a number. Gives {node, update(c), attempt(change)}.
export function values(c, { writable, pick, send, tools }) {
  const node = el('div', { class: 'fields' }), updates = [];
  const line = (name, text) => {
    const value = el('span', { class: 'value' });
    node.append(el('span', { class: 'name' }, name), value, el('span'));
    updates.push((now) => setText(value, text(now)));
  };
  if (c.fields) c.fields.forEach((f, at) => updates.push(field(f, at)));
  else if (c.raw !== undefined) line('bytes', (now) => String(now.raw));
  else if (c.count !== undefined) line('elements', (now) => `${now.count}: ${JSON.stringify(now.elements || []).slice(0, 400)}${now.count > (now.elements || []).length ? ' \u2026' : ''}`);
  if (c.more_fields) node.append(el('span', { class: 'soft' }, `and ${count(c.more_fields)} fields more`));
  node.hidden = !node.childElementCount;

  function field(f, at) {
    const title = f.text || '', name = f.path || 'value', id = `f-${c.name}-${name}`, unit = el('span', { class: 'last' }, el('span', { class: 'unit' }, f.unit || ''), tools && f.length === undefined && /^[iuf]\d/.test(f.kind) ? tools(f) : null);
    const still = (made) => {
      node.append(el('span', { class: 'name', title }, name), made, unit);
      return (now) => setText(made, plain(now.fields[at]));
    };
    if (f.kind === 'entity' && f.length === undefined) {
      const go = el('button', { type: 'button', class: 'link', onclick: () => pick(go.textContent) });
      return still(go);
    }
    if (!writable || f.fixed || f.kind === 'bytes' || f.kind === 'blob') return still(el('span', { class: 'value' }));
    const isText = f.value.startsWith('"') && f.kind === 'text';
    const input = f.kind === 'enum' && f.constants ? el('select', { id }, f.constants.map((k) => el('option', { value: k }, k)))
      : f.kind === 'bool' && f.length === undefined ? el('input', { type: 'checkbox', id }) : el('input', { type: 'text', id, autocomplete: 'off' });
    if (f.least !== undefined) input.title = `${f.least} to ${f.most}`;
    node.append(el('label', { for: id, title }, name), input, unit);
    let edited = false, latest = null; // Enter or leaving the field writes what was typed; Escape takes it back
    const show = (now, takesBack) => {
      latest = now;
      if (edited || (!takesBack && input.hasAttribute('aria-invalid'))) return; // what was typed stays
      if (!takesBack && document.activeElement === input && input.type === 'text') return;
      const value = plain(now.fields[at]);
      if (input.type === 'checkbox') input.checked = value === 'true';
      else if (input.value !== value) input.value = value;
    };
    // Numbers and lists go as they were typed (53 bits are fewer than 64); else it is a text: "400 km".
    const commit = () => {
      const typed = input.value;
      edited = false;
      const before = latest && latest.fields[at].value;
      attempt({ path: f.path }, input, { value: input.type === 'checkbox' ? String(input.checked) : !isText && f.kind !== 'enum' && isJson(typed) ? typed : JSON.stringify(typed) }, before && { text: `${c.name}.${name}`, back: () => send({ path: f.path }, { value: before }) });
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

  // No mark stays beside a value that is good.
  function calm(input) {
    node.querySelectorAll('.problem, .written').forEach((p) => p.remove());
    if (input) input.removeAttribute('aria-invalid');
  }

  async function attempt(change, input, raw, back) {
    calm(input);
    try {
      await send(change, raw);
      if (back) { undone.list.push(back); undone.changed(); }
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

  return { node, attempt, update: (now) => updates.forEach((u) => u(now)) };
}
