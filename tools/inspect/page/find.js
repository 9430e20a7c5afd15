// find.js: one field for everything that has a name: windows, systems, components, groups, entities.
import { el } from '/ui.js';

// `windows`: {name: title}; `go(name, state)` opens; `ask` asks the program.
export function finder({ windows, go, ask }) {
  const input = el('input', { type: 'search', id: 'find', placeholder: 'a part of a name, or 12:3', autocomplete: 'off', spellcheck: false, role: 'combobox', 'aria-label': 'Find anything', 'aria-controls': 'found', 'aria-expanded': 'true' });
  const list = el('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found' });
  const box = el('dialog', { class: 'find', 'aria-label': 'Find' }, input, list);
  let known = [], found = [], at = 0, turn = 0;
  document.body.append(box);
  const item = (kind, text, name, state) => ({ kind, text, name, state });

  function show() {
    list.replaceChildren(...found.map((one, i) => el('li', { role: 'option', id: `found-${i}`, 'aria-selected': String(i === at), onclick: () => take(one) }, el('span', {}, one.text), el('span', { class: 'soft' }, one.kind))));
    if (!found.length) list.replaceChildren(el('li', { class: 'soft', role: 'option' }, input.value ? 'Nothing has this in its name.' : ''));
    input.setAttribute('aria-activedescendant', found.length ? `found-${at}` : '');
    const chosen = list.children[at];
    if (chosen && chosen.scrollIntoView) chosen.scrollIntoView({ block: 'nearest' });
  }
  function take(one) {
    if (one && one.idle) return;
    box.close();
    if (one) go(one.name, one.state);
  }
  async function look() {
    const part = input.value.trim(), low = part.toLowerCase(), mine = ++turn;
    const starts = (one) => (one.text.toLowerCase().startsWith(low) ? 0 : 1);
    found = known.filter((one) => one.text.toLowerCase().includes(low)).sort((a, b) => starts(a) - starts(b));
    if (found.length > 40) found = [...found.slice(0, 40), { ...item(`${found.length - 40} more`, 'type more of the name', '', undefined), idle: true }];
    if (/^\d+:\d+$/.test(part)) found.unshift(item('entity', part, 'entities', { entity: part }));
    at = 0;
    show();
    if (!part) return;
    try {
      const { rows, total } = await ask({ do: 'search', part, count: 20 });
      if (mine !== turn) return;
      found.push(...rows.map((r) => item('entity', r.name, 'entities', { entity: r.entity })));
      if (total > rows.length) found.push(item(`${total} entities`, `every entity with "${part}" in its name`, 'entities', { mode: 'name', part }));
      show();
    } catch { /* the frame says that there is no answer */ }
  }
  input.addEventListener('input', look);
  box.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) { at = (at + step + found.length) % found.length; show(); } else if (event.key === 'Enter') take(found[at]);
    else if (event.key === 'Escape') box.close();
    else return;
    event.preventDefault();
  });
  box.addEventListener('click', (event) => { if (event.target === box) box.close(); });

  return async function open() {
    if (box.open) return;
    known = Object.entries(windows).map(([name, title]) => item('window', title, name, undefined));
    input.value = '';
    box.showModal();
    look();
    try {
      const [systems, components, relations] = await Promise.all([ask({ do: 'systems' }), ask({ do: 'components' }), ask({ do: 'relations' })]);
      known.push(...systems.systems.map((s) => item('system', s.name, 'systems', { system: s.name })),
        ...[...new Set(systems.systems.map((s) => s.group))].map((g) => item('group', g, 'groups', { group: g })),
        ...components.rows.map((c) => item(c.kind === 'resource' ? 'resource' : 'component', c.name, 'components', { component: c.name })),
        ...relations.relations.map((r) => item('relation', r, 'entities', { mode: 'tree', relation: r })));
      look();
    } catch { /* what is there already can be found */ }
  };
}
