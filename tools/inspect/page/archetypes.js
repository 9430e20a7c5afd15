// archetypes.js: how entities fill their chunks, and what is wasted.
import { el, Table, panel, figures, updateFigures, bytes, count, percent, meter, setText, empty, partField } from '/ui.js';
import { bars } from '/chart.js';

const columns = (pick) => [
  { title: 'Components', draw: (r) => el('button', { type: 'button', class: 'link lines', title: r.components.join(', '), onclick: () => pick(r.id) }, r.components.join(', ') || 'no component'), state: (r) => r.components.join() },
  { title: 'Entities', number: true, sort: 'entities', text: (r) => count(r.entities) },
  { title: 'Unused', number: true, sort: 'unused', text: (r) => count(r.capacity - r.entities) },
  { title: 'Chunks', number: true, sort: 'chunks', text: (r) => count(r.chunks) },
  { title: 'Row', number: true, sort: 'row', text: (r) => bytes(r.row) },
  { title: 'Memory', number: true, sort: 'bytes', text: (r) => bytes(r.bytes) },
  { title: 'Wasted', number: true, sort: 'wasted', text: (r) => bytes(r.wasted) },
  { title: 'External', number: true, text: (r) => (r.external ? bytes(r.external) : '\u2013') },
  { title: 'Splits', number: true, sort: 'tuples', text: (r) => (r.tuples > 1 ? count(r.tuples) : '\u2013') },
  { title: 'Used', draw: (r) => meter(r.bytes ? r.used / r.bytes : 0, `${percent(r.used, r.bytes)} of its memory is used`, 0.5), state: (r) => (r.bytes ? (r.used / r.bytes).toFixed(3) : '0') },
];

const ROWS = 200;

export const archetypes = {
  open(root, api, state) {
    let sort = state.sort || 'bytes', from = Number(state.from) || 0, picked = state.archetype ? Number(state.archetype) : null;
    const sums = figures([]), advice = el('div', { class: 'stack' }), detail = panel('The chosen archetype', el('div', { class: 'body' }, empty('Choose an archetype.')));
    const pick = (id) => { picked = id; api.keep({ archetype: id }, true); watch(); };
    const table = new Table(columns(pick), {
      key: (r) => r.id, sort, descending: state.order !== 'up', label: 'Archetypes',
      onSort: (to, d) => { sort = to; from = 0; api.keep({ sort, order: d ? '' : 'up', from }); watch(); },
    });
    const part = partField('a part of the name of a component', state.part, () => { from = 0; api.keep({ part: part.value, from }); watch(); });
    const shown = el('span', { class: 'soft grow' }), turn = (by) => { from = Math.max(0, from + by); api.keep({ from }); watch(); };
    const before = el('button', { type: 'button', onclick: () => turn(-ROWS) }, 'Previous'), after = el('button', { type: 'button', onclick: () => turn(ROWS) }, 'Next'), more = el('footer', { hidden: true }, shown, before, after);
    root.append(panel('All archetypes', el('div', { class: 'body' }, sums)), advice,
      panel('Archetypes', el('div', { class: 'query body' }, part), table.node, more), detail);

    function update(data) {
      const s = data.sum;
      updateFigures(sums, [['Archetypes', count(data.total)], ['Empty', count(s.empty)], ['Entities', count(s.entities)],
        ['Chunks', count(s.chunks)], ['Memory', bytes(s.bytes)], ['Wasted', `${bytes(s.wasted)} (${percent(s.wasted, s.bytes)})`], ['Metadata', bytes(s.metadata)]]);
      if (from >= data.matched && from > 0) { turn(-ROWS); return; }
      table.update(data.rows, part.value ? 'No archetype has such a component.' : 'No entity was created yet.');
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked));
      setText(shown, `${count(from + 1)} to ${count(from + data.rows.length)} of ${count(data.matched)}`);
      more.hidden = data.matched <= ROWS;
      before.disabled = from === 0;
      after.disabled = from + data.rows.length >= data.matched;
      const told = JSON.stringify(data.advice);
      if (advice.dataset.told !== told) {
        advice.dataset.told = told;
        advice.replaceChildren(...data.advice.slice(0, 5).map((a) => el('p', { class: 'note warn' }, a.text)), data.advice.length > 5 ? el('details', {}, el('summary', {}, `${count(data.advice.length - 5)} more`), el('div', { class: 'stack' }, data.advice.slice(5).map((a) => el('p', { class: 'note warn' }, a.text)))) : '');
      }
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
      const list = [{ request: { do: 'archetypes', sort, up: !table.descending, part: part.value.trim(), from, count: ROWS }, update }];
      if (picked !== null) list.push({ request: { do: 'archetype', archetype: picked }, update: updateOne });
      api.watch(list);
    }
    watch();
    return { find: () => part.focus() };
  },
};
