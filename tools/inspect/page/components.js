// components.js: the types of the world: what they are, who reads and writes them, where they are; and
// the values of resources.
import { el, Table, panel, count, bytes, tag, empty, sorted, partField } from '/ui.js';
import { values } from '/fields.js';

export const components = {
  open(root, api, state) {
    let sort = state.sort || 'name', descending = state.order === 'down', picked = state.component || null, part = state.part || '', last = null, shape = '', shown = null;
    const detail = panel('Component', el('div', { class: 'body' }, empty('Choose a component.')));
    const input = partField('a part of a name, or a kind', part, () => { part = input.value.trim().toLowerCase(); api.keep({ part }); if (last) update(last); });
    const table = new Table([
      { title: 'Component', sort: 'name', draw: (r) => el('button', { type: 'button', class: 'link', onclick: () => pick(r.name) }, r.name), state: (r) => r.name },
      { title: 'Kind', sort: 'kind', text: (r) => r.kind },
      { title: 'Size', number: true, sort: 'bytes', text: (r) => (r.bytes ? bytes(r.bytes) : '\u2013') },
      { title: 'Entities', number: true, sort: 'entities', text: (r) => (r.kind === 'resource' || r.kind === 'sparse' ? '\u2013' : count(r.entities)) },
      { title: 'Archetypes', number: true, sort: 'archetypes', text: (r) => count(r.archetypes) },
      { title: 'Writers', number: true, sort: 'writers', text: (r) => count(r.writers) },
      { title: 'Readers', number: true, sort: 'readers', text: (r) => count(r.readers) },
    ], { key: (r) => r.name, sort, descending, label: 'Components', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? 'down' : '' }); if (last) update(last); } });
    root.append(el('div', { class: 'split' }, panel('Components', el('div', { class: 'query body' }, input), table.node), detail));

    function update(data) {
      last = data;
      const rows = data.rows.filter((r) => r.name.toLowerCase().includes(part) || r.kind === part);
      table.update(sorted(rows, sort, descending), part ? 'No component has this in its name.' : 'This world has no components.');
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked));
    }
    function pick(name) {
      picked = name;
      api.keep({ component: name }, true);
      watch();
    }

    const list = (title, items) => el('div', {}, el('h3', {}, title), el('div', { class: 'tags' }, items.length ? items : el('span', { class: 'soft' }, 'none')));
    function updateOne(data) {
      if (data.error) { shape = ''; detail.lastElementChild.replaceWith(el('div', { class: 'body' }, empty(data.error))); return; }
      const now = JSON.stringify({ ...data, fields: data.fields && data.fields.map((f) => f.path), raw: 0, archetypes: data.archetypes.map((a) => a.id) });
      if (now !== shape) { shape = now; build(data); }
      if (shown) shown.update(data);
      data.archetypes.forEach((a, i) => { const cell = detail.querySelectorAll('.held')[i]; if (cell) cell.textContent = count(a.entities); });
    }
    function build(data) {
      const isResource = data.kind === 'resource', held = isResource && (data.fields || data.raw !== undefined);
      const send = async (change, raw) => { const told = await api.ask({ do: 'set_resource', component: data.name, ...change }, raw); updateOne(told); return told; };
      shown = held ? values(data, { writable: data.writable, pick: (entity) => { location.hash = api.link('', 'entities', { entity }).hash; }, send }) : null;
      const said = (f) => el('li', {}, el('strong', {}, f.name), ` ${f.kind}${f.count > 1 ? `[${f.count}]` : ''}${f.unit ? `, ${f.unit}` : ''}`, f.text ? el('span', { class: 'soft' }, ` \u2013 ${f.text}`) : null);
      detail.lastElementChild.replaceWith(el('div', { class: 'body' },
        el('p', {}, el('strong', {}, data.name), ' ', tag(data.kind), data.enableable ? tag('enableable') : null, el('span', { class: 'soft' }, data.bytes ? ` ${count(data.bytes)} B, aligned to ${data.alignment}` : '')),
        shown ? shown.node : null,
        data.described ? el('div', {}, el('h3', {}, 'Fields'), el('ul', { class: 'plain' }, data.described.map(said))) : el('p', { class: 'soft' }, data.bytes ? 'Its fields are not described: values are bytes.' : ''),
        list('Written by', data.writers.map((s) => api.link(s, 'systems', { system: s }))),
        list('Read by', data.readers.map((s) => api.link(s, 'systems', { system: s }))),
        isResource ? null : el('p', { class: 'row-gap' }, api.link(`Entities with ${data.name}`, 'entities', { query: data.name }), data.kind === 'sparse' ? null : api.link('Who lost it lately', 'entities', { query: data.name, lost: 'yes' })),
        isResource ? null : el('div', {}, el('h3', {}, data.archetype_count > data.archetypes.length ? `Archetypes, the first ${data.archetypes.length} of ${count(data.archetype_count)}` : 'Archetypes'),
          el('ul', { class: 'plain' }, data.archetypes.map((a) => el('li', {}, api.link(a.components.join(', '), 'archetypes', { archetype: a.id }), ' ', el('span', { class: 'held' })))))));
    }

    function watch() {
      const all = [{ request: { do: 'components' }, update }];
      if (picked) all.push({ request: { do: 'component', component: picked }, update: updateOne, refused: (p) => updateOne({ error: p.message }) });
      api.watch(all);
    }
    watch();
    return { find: () => input.focus() };
  },
};
