// archetypes.js: how entities fill their chunks, and what is wasted.
import { el, Table, panel, figures, updateFigures, bytes, count, percent, meter, tags, tag, empty } from '/ui.js';
import { bars } from '/chart.js';

const columns = (pick) => [
  { title: 'Components', draw: (r) => el('button', { type: 'button', class: 'link cut', title: r.components.join(', '), onclick: () => pick(r.id) }, r.components.join(', ') || 'no component'), state: (r) => r.components.join() },
  { title: 'Entities', number: true, sort: 'entities', text: (r) => count(r.entities) },
  { title: 'Unused', number: true, text: (r) => count(r.capacity - r.entities) },
  { title: 'Chunks', number: true, sort: 'chunks', text: (r) => count(r.chunks) },
  { title: 'Row', number: true, sort: 'row', text: (r) => bytes(r.row) },
  { title: 'Memory', number: true, sort: 'bytes', text: (r) => bytes(r.bytes) },
  { title: 'Wasted', number: true, sort: 'wasted', text: (r) => bytes(r.wasted) },
  { title: 'External', number: true, text: (r) => (r.external ? bytes(r.external) : '\u2013') },
  { title: 'Splits', number: true, text: (r) => (r.tuples > 1 ? count(r.tuples) : '\u2013') },
  { title: 'Used', draw: (r) => meter(r.bytes ? r.used / r.bytes : 0, `${percent(r.used, r.bytes)} of its memory is used`, 0.5), state: (r) => (r.bytes ? (r.used / r.bytes).toFixed(3) : '0') },
];

export const archetypes = {
  open(root, api, state) {
    let sort = state.sort || 'bytes', picked = state.archetype ? Number(state.archetype) : null;
    const sums = figures([]), advice = el('div'), detail = panel('The chosen archetype', el('div', { class: 'body' }, empty('Choose an archetype.')));
    const pick = (id) => { picked = id; api.keep({ archetype: id }, true); watch(); };
    const table = new Table(columns(pick), {
      key: (r) => r.id, sort, descending: state.order !== 'up', label: 'Archetypes',
      onSort: (to, d) => { sort = to; api.keep({ sort, order: d ? '' : 'up' }); watch(); },
    });
    const more = el('footer', { class: 'soft' });
    root.append(panel('All archetypes', el('div', { class: 'body' }, sums)), advice,
      panel('Archetypes', table.node, more), detail);

    function update(data) {
      const s = data.sum;
      updateFigures(sums, [['Archetypes', count(data.total)], ['Empty', count(s.empty)], ['Entities', count(s.entities)],
        ['Chunks', count(s.chunks)], ['Memory', bytes(s.bytes)], ['Wasted', `${bytes(s.wasted)} (${percent(s.wasted, s.bytes)})`], ['Metadata', bytes(s.metadata)]]);
      const rows = table.descending ? data.rows : [...data.rows].reverse();
      table.update(rows, 'No entity was created yet.');
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked));
      more.textContent = data.total > data.rows.length ? `the first ${data.rows.length} of ${count(data.total)}` : '';
      more.hidden = more.textContent === '';
      advice.replaceChildren(...data.advice.map((a) => el('p', { class: 'note warn' }, a.text)));
      advice.hidden = data.advice.length === 0;
      if (picked === null && data.rows.length) { picked = data.rows[0].id; watch(); }
    }

    const chart = el('div'), kinds = el('div'), facts = figures([]);
    const body = el('div', { class: 'body' }, facts);
    function updateOne(data) {
      if (!body.isConnected) {
        detail.lastElementChild.replaceWith(body);
        body.append(el('div', { class: 'halves' }, el('div', {}, el('h3', {}, 'Chunks by how full they are'), chart),
          el('div', {}, el('h3', {}, 'Components'), kinds)));
      }
      updateFigures(facts, [['Entities', count(data.entities)], ['Chunks', count(data.chunks)], ['A row', bytes(data.row)], ['Used', percent(data.used, data.bytes)], ['Metadata', bytes(data.metadata)], ['External', bytes(data.external)], ['Splits', count(data.tuples)]]);
      const text = JSON.stringify(data.bands);
      if (chart.dataset.bands !== text) {
        chart.dataset.bands = text;
        bars(chart, data.bands.map((value, i) => ({ value, label: i === 9 ? '100 %' : String(i * 10) })),
          { height: 110, format: count, label: 'Chunks by how full they are' });
      }
      const list = JSON.stringify(data.components);
      if (kinds.dataset.list === list) return;
      kinds.dataset.list = list;
      const said = (c) => `${c.name} ${c.kind === 'data' ? bytes(c.bytes) : c.kind === 'tag' ? 'tag' : `${c.kind}, ${bytes(c.bytes)}`}`;
      const all = data.components.map((c) => c.name).join(', ');
      kinds.replaceChildren(el('div', { class: 'tags' }, data.components.map((c) => Object.assign(api.link(said(c), 'entities', { query: c.name }), { className: 'tag' }))),
        el('p', {}, api.link('Entities with all of them', 'entities', { query: all })));
    }

    function watch() {
      const list = [{ request: { do: 'archetypes', sort, count: 200 }, update }];
      if (picked !== null) list.push({ request: { do: 'archetype', archetype: picked }, update: updateOne });
      api.watch(list);
    }
    watch();
    return {};
  },
};
