// entities.js: entities by query, by name, by relation; one entity with its values.
import { el, Table, panel, count, setText, empty } from '/ui.js';
import { values } from '/fields.js';

const PAGE = 50;

// A value of a component as a row of a list shows it: "x 1  y 2".
function brief(value) {
  if (value === null || value === undefined) return el('span', { class: 'soft' }, '\u2013');
  if (typeof value !== 'object') return document.createTextNode(String(value));
  const line = el('span', { class: 'values' });
  for (const [name, v] of Object.entries(value).slice(0, 6)) {
    line.append(`${name} `, el('b', {}, typeof v === 'object' && v !== null ? JSON.stringify(v).slice(0, 40) : String(v)));
  }
  return line;
}

export const entities = {
  title: 'Entities',
  open(root, api, state) {
    let mode = ['name', 'tree'].includes(state.mode) ? state.mode : 'query', query = state.query || '', part = state.part || '', relation = state.relation || null;
    let from = Number(state.from) || 0, columns = null, table = null, total = 0, picked = state.entity || null;
    const keep = (isStep) => api.keep({ mode: mode === 'query' ? '' : mode, query, part, relation: mode === 'tree' ? relation : '', from: from || '', entity: picked }, isStep);
    const detail = panel('Entity', el('div', { class: 'body' }, empty('Choose an entity.')));
    const list = panel('Entities');
    const input = el('input', { type: 'text', id: 'query', placeholder: 'Position, !Frozen, ?Name', autocomplete: 'off', spellcheck: false, 'aria-label': 'Query', list: 'types' });
    const types = el('datalist', { id: 'types' });
    const problem = el('p', { class: 'note bad', role: 'alert', hidden: true });
    const holder = el('div');
    const say = el('span', { class: 'soft grow' });
    const back = el('button', { type: 'button', onclick: () => turn(-PAGE) }, 'Previous'), on = el('button', { type: 'button', onclick: () => turn(PAGE) }, 'Next');
    const foot = el('footer', {}, say, back, on);
    const form = el('form', { class: 'query body', onsubmit: (e) => { e.preventDefault(); run(); } }, input, el('button', { type: 'submit', class: 'primary' }, 'Run'));
    const choose = el('select', { 'aria-label': 'Relation', hidden: true, onchange: () => { relation = choose.value; keep(true); showTree(); } });
    const modes = el('div', { class: 'modes', role: 'group', 'aria-label': 'List by' }, [['query', 'Query'], ['name', 'Name'], ['tree', 'Tree']].map(([id, text]) =>
      el('button', { type: 'button', 'aria-pressed': String(id === mode), onclick: (e) => setMode(id, e.target) }, text)));
    list.head.append(el('div', { class: 'row-gap' }, choose, modes));
    list.append(types, form, problem, holder, foot);
    const hint = el('p', { class: 'soft wide' }, 'A has it \u00b7 !A lacks it \u00b7 ?A shown if there \u00b7 A | B one of them \u00b7 commas between terms; empty: every entity.');
    root.append(hint, el('div', { class: 'split' }, list, detail));
    holder.replaceChildren(empty('Waiting for an answer.'));

    function setMode(id, button) {
      mode = id;
      from = 0;
      showMode();
      for (const other of modes.children) other.setAttribute('aria-pressed', String(other === button));
      keep(true);
      if (mode === 'tree') showTree(); else watch();
    }

    function showMode() {
      form.hidden = mode === 'tree';
      hint.hidden = mode !== 'query';
      foot.hidden = mode === 'tree';
      choose.hidden = mode !== 'tree';
      input.placeholder = mode === 'name' ? 'a part of a name' : 'Position, !Frozen, ?Name';
      input.setAttribute('aria-label', mode === 'name' ? 'Name' : 'Query');
      if (mode === 'name') input.removeAttribute('list'); else input.setAttribute('list', 'types');
      input.value = mode === 'name' ? part : query;
      columns = null;
      problem.hidden = true;
    }

    function run() {
      if (mode === 'name') part = input.value.trim(); else query = input.value.trim();
      from = 0;
      columns = null;
      keep(true);
      watch();
    }
    function turn(by) { from = Math.max(0, from + by); keep(true); watch(); }

    const link = (r) => el('button', { type: 'button', class: 'link', onclick: () => pick(r.entity) }, r.name || r.entity);
    function makeTable(names) {
      table = new Table([{ title: 'Entity', draw: link, state: (r) => r.entity + (r.name || '') },
        ...names.map((name, i) => ({ title: name, class: 'cut', draw: (r) => brief(r.values[i]), state: (r) => JSON.stringify(r.values[i]) }))],
      { key: (r) => r.entity, label: 'Entities' });
      holder.replaceChildren(table.node);
    }

    function update(data) {
      input.removeAttribute('aria-invalid');
      if (data.error) { refuse(data.error); return; }
      problem.hidden = true;
      const names = data.columns || [];
      if (!columns || columns.join() !== names.join()) { columns = names; makeTable(names); }
      table.update(data.rows, mode === 'name' ? 'No name contains this.' : 'No entity is selected.');
      mark();
      total = data.total;
      const last = Math.min(total, from + data.rows.length);
      setText(say, total === 0 ? 'none' : `${count(from + 1)} to ${count(last)} of ${count(total)}`);
      back.disabled = from === 0;
      on.disabled = from + PAGE >= total;
      foot.hidden = mode === 'tree';
    }
    function refuse(text) {
      input.setAttribute('aria-invalid', 'true');
      problem.textContent = text;
      problem.hidden = false;
      holder.replaceChildren();
      columns = null;
      foot.hidden = true;
    }
    function mark() { if (table) for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked)); }

    // ---- tree
    async function showTree() {
      foot.hidden = true;
      watch();
      try {
        const names = (await api.ask({ do: 'relations' })).relations;
        if (!names.length) { choose.hidden = true; holder.replaceChildren(empty('This world has no relations.')); return; }
        choose.replaceChildren(...names.map((n) => el('option', { value: n }, n)));
        relation = names.includes(relation) ? relation : names[0];
        choose.value = relation;
        const tree = el('ul', { class: 'tree', role: 'tree', 'aria-label': `Entities by ${relation}` });
        holder.replaceChildren(el('div', { class: 'scroll' }, tree));
        await fill(tree, null, 0);
        if (!tree.children.length) holder.replaceChildren(empty(`No entity is the target of ${relation}.`));
      } catch (p) { holder.replaceChildren(empty(p.message)); }
    }
    async function fill(parent, entity, start) {
      const request = { do: 'tree', relation, from: start };
      if (entity) request.entity = entity;
      const looks = el('li', { role: 'none', class: 'soft' });
      let data = await api.ask(request);
      while (data.next && !data.rows.length) { // so far none of those that were looked at is a root
        looks.textContent = `none among the first ${count(data.next)} entities`;
        if (!looks.isConnected) parent.append(looks);
        data = await api.ask({ ...request, from: data.next });
        if (!parent.isConnected) return;
      }
      looks.remove();
      for (const row of data.rows) parent.append(branch(row));
      if (data.next) {
        const more = el('li', { role: 'none' }, el('button', { type: 'button', class: 'link', onclick: () => { more.remove(); fill(parent, entity, data.next); } }, 'more'));
        parent.append(more);
      }
    }
    function branch(row) {
      const twist = el('button', { type: 'button', class: row.sources ? 'twist' : 'twist leaf', 'aria-label': `Open ${row.name || row.entity}`, onclick: toggle }, '\u25b8');
      const item = el('li', { role: 'treeitem' }, el('div', {}, twist, link(row), row.sources ? el('span', { class: 'soft' }, count(row.sources)) : null));
      if (row.sources) item.setAttribute('aria-expanded', 'false');
      let inner = null;
      async function toggle() {
        const is = item.getAttribute('aria-expanded') !== 'true';
        item.setAttribute('aria-expanded', String(is));
        twist.textContent = is ? '\u25be' : '\u25b8';
        if (!is) { inner.remove(); inner = null; return; }
        inner = el('ul', { class: 'tree', role: 'group' });
        item.append(inner);
        try { await fill(inner, row.entity, 0); } catch (p) { inner.append(el('li', {}, p.message)); }
      }
      return item;
    }

    // ---- one entity
    let parts = new Map(), shown = '';
    function pick(entity) {
      picked = entity;
      keep(true);
      mark();
      watch();
      if (matchMedia('(max-width: 1100px)').matches) detail.scrollIntoView({ block: 'start' });
    }
    function updateOne(data) {
      if (data.error) { detail.head.nextSibling.replaceWith(el('div', { class: 'body' }, empty(data.error))); shown = ''; return; }
      const shape = JSON.stringify([data.entity, data.writable, data.components.map((c) => [c.name, c.fields && c.fields.map((f) => f.path)])]);
      if (shape !== shown) { shown = shape; build(data); }
      for (const c of data.components) parts.get(c.name)(c);
      if (place.dataset.archetype !== String(data.archetype)) {
        place.dataset.archetype = String(data.archetype);
        place.replaceChildren(api.link(`archetype ${data.archetype}`, 'archetypes', { archetype: data.archetype }), ', ', where);
      }
      setText(where, `chunk ${data.chunk}, row ${data.row} of ${data.chunk_rows}`);
      const state = JSON.stringify([data.systems, data.relations, data.origin, data.conflicts]);
      if (around.dataset.state === state) return;
      around.dataset.state = state;
      around.replaceChildren(...data.relations.map((r) => el('div', { class: 'row-gap' }, el('h3', {}, r.name),
        r.target ? el('button', { type: 'button', class: 'link', onclick: () => pick(r.target) }, r.target_name || r.target) : null,
        r.sources ? el('span', { class: 'soft' }, `${count(r.sources)} sources`) : null)),
      el('h3', {}, 'Systems that run over it'), el('div', { class: 'tags' }, data.systems.length ? data.systems.map((s) => api.link(s, 'systems', { system: s })) : el('span', { class: 'soft' }, 'none')),
      ...(data.origin ? [el('h3', {}, 'Comes from'), el('p', { class: 'mono' }, data.origin)] : []),
      ...((data.conflicts || []).length ? [el('h3', {}, 'Conflicts with the document'), ...data.conflicts.map((c) => el('p', { class: 'note' }, c))] : []));
    }
    const place = el('p', { class: 'soft' }), where = el('span'), around = el('div');
    function build(data) {
      parts = new Map();
      const boxes = data.components.map((c) => component(data, c));
      delete around.dataset.state;
      const name = data.name ? `${data.name} ` : '';
      const all = el('div', {}, el('div', { class: 'part' }, el('div', { class: 'row-gap' }, el('strong', {}, name), el('code', {}, data.entity)), place), boxes, el('div', { class: 'part' }, around));
      while (detail.head.nextSibling) detail.head.nextSibling.remove();
      detail.append(all);
    }
    function component(data, c) {
      const send = async (change, raw) => updateOne(await api.ask({ do: 'set', entity: picked, component: c.name, ...change }, raw));
      const shown = values(c, { writable: data.writable, pick, send });
      const switchBox = c.enabled === undefined ? null : el('input', { type: 'checkbox', class: 'switch', disabled: !data.writable, 'aria-label': `${c.name} is enabled`, onchange: (e) => shown.attempt({ enabled: e.target.checked }) });
      parts.set(c.name, (now) => { if (switchBox) switchBox.checked = now.enabled; shown.update(now); });
      return el('div', { class: 'part' }, el('header', {}, switchBox, el('h3', {}, api.link(c.name, 'components', { component: c.name })),
        el('span', { class: 'soft' }, c.kind === 'data' ? `${c.bytes} B` : c.kind === 'tag' ? 'tag' : `${c.kind}, ${c.bytes} B`)), shown.node);
    }

    function watch() {
      const all = [];
      const request = mode === 'name' ? { do: 'search', part, from, count: PAGE } : { do: 'entities', query, from, count: PAGE };
      if (mode !== 'tree') all.push({ request, update, refused: (p) => refuse(p.message) });
      if (picked) all.push({ request: { do: 'entity', entity: picked }, update: updateOne });
      api.watch(all);
    }
    api.ask({ do: 'types' }).then((d) => types.replaceChildren(...d.types.map((t) => el('option', { value: t })))).catch(() => {});
    showMode();
    if (mode === 'tree') showTree(); else watch();
    return { find: () => input.focus() };
  },
};
