// systems.js: what runs, for how long, why in this order; and the queries.
import { el, Table, panel, figures, updateFigures, count, ns, tag, tags, setText, empty, sorted, meter } from '/ui.js';
import { Lanes } from '/lanes.js';

export const systems = {
  title: 'Systems',
  open(root, api, state) {
    let sort = state.sort || 'average', descending = state.order !== 'up', picked = null, last = null, schedule = null, writable = false;
    const sums = figures([]);
    const lanes = new Lanes({ still: true, label: 'The last frame over the workers' });
    const why = el('div', { class: 'body' }, empty('Choose a system.'));
    const table = new Table([
      { title: 'On', draw: (r) => el('input', { type: 'checkbox', class: 'switch', checked: r.enabled, disabled: !writable, 'aria-label': `${r.name} runs`, title: writable ? 'Switch on or off' : 'This inspector only reads', onchange: (e) => turn(r.name, e.target.checked) }), state: (r) => `${r.enabled}${writable}` },
      { title: 'System', sort: 'name', draw: (r) => el('button', { type: 'button', class: 'link', onclick: () => pick(r.name) }, r.name), state: (r) => r.name },
      { title: 'Stage', number: true, sort: 'stage', text: (r) => `${r.stage}${r.fused ? ' fused' : ''}` },
      { title: 'Last', number: true, sort: 'last', text: (r) => ns(r.last) },
      { title: 'Average', number: true, sort: 'average', text: (r) => ns(r.average) },
      { title: '99 %', number: true, sort: 'p99', text: (r) => ns(r.p99) },
      { title: 'Share', draw: (r) => meter(r.share, `${Math.round(r.share * 100)} % of the work of all systems`), state: (r) => r.share.toFixed(2) },
      { title: 'Rows', number: true, sort: 'rows', text: (r) => count(r.rows) },
      { title: 'Commands', number: true, sort: 'commands', text: (r) => count(r.commands) },
      { title: 'Touches', draw: (r) => el('div', { class: 'tags' }, [...r.flags.map((f) => tag(f)), ...r.access.map((a) => Object.assign(api.link(a.write ? `${a.name} \u270e` : a.name, 'entities', { query: a.name }), { className: `tag ${a.write ? 'write' : 'read'}`, title: a.write ? 'written' : 'read' }))]), state: (r) => JSON.stringify([r.access, r.flags]) },
    ], { key: (r) => r.name, sort, descending, label: 'Systems', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? '' : 'up' }); if (last) update(last); } });
    root.append(panel('Frame', el('div', { class: 'body' }, sums)),
      panel('The last frame over the workers', lanes.node),
      panel('Systems', table.node), panel('Why in this order', why));

    function update(data) {
      last = data;
      writable = data.writable;
      updateFigures(sums, [['Frame', ns(data.frame)], ['Average', ns(data.average)], ['99 %', ns(data.p99)], ['Critical path', ns(data.critical)],
        ['Playback', ns(data.playback)], ['Stages', count(data.stages)], ['Sync points', count(data.sync_points)], ['Commands', count(data.commands)]]);
      const all = data.systems.reduce((s, r) => s + r.average, 0);
      for (const r of data.systems) r.share = all > 0 ? r.average / all : 0;
      table.update(sorted(data.systems, sort, descending), 'This world has no systems.');
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked));
    }

    async function turn(name, enabled) {
      try { update(await api.ask({ do: 'switch', system: name, enabled })); } catch (problem) { why.replaceChildren(el('p', { class: 'note bad' }, problem.message)); }
    }

    async function pick(name) {
      picked = name;
      api.keep({ system: name }, true);
      try {
        schedule = (await api.ask({ do: 'schedule' })).schedule;
        if (picked === name && schedule) explain(name);
      } catch (problem) { why.replaceChildren(el('p', { class: 'note bad' }, problem.message)); }
    }

    function explain(name) {
      const text = el('pre', { class: 'why' });
      const edge = (e) => el('button', { type: 'button', title: 'Why?', onclick: async () => {
        try { text.textContent = (await api.ask({ do: 'explain', a: e.from, b: e.to })).text; } catch (p) { text.textContent = p.message; }
      } }, `${e.from} \u2192 ${e.to}: ${e.component ?? 'by name'}`);
      const list = (title, edges) => el('div', {}, el('h3', {}, title), edges.length ? el('div', { class: 'row-gap' }, edges.map(edge)) : el('p', { class: 'soft' }, 'none'));
      const syncs = schedule.sync_points.filter((s) => s.recorder === name || s.observer === name);
      const parts = [
        list(`Runs after`, schedule.edges.filter((e) => e.to === name)),
        list(`Runs before`, schedule.edges.filter((e) => e.from === name)),
        syncs.length ? el('div', {}, el('h3', {}, 'Sync points'), tags(syncs.map((s) => s.effect === 'any' ? `commands of ${s.recorder} before ${s.observer}: one of the two is exclusive` : `${s.observer} could see what ${s.recorder} ${s.effect}${s.component ? ` (${s.component})` : ''}`))) : null,
        text];
      why.replaceChildren(...parts.filter(Boolean));
    }

    api.watch([{ request: { do: 'systems' }, update },
      { request: { do: 'timeline', frame: true, pixels: 1200 }, update: (d) => lanes.update(d) }]);
    if (state.system) pick(state.system);
    return { close: () => lanes.close() };
  },
};

const signs = { '!': ['without', 'none'], '-': ['absent', 'none'], '?': ['optional', ''], '+': ['present', ''], '|': ['any', ''], '~': ['disabled', ''] };

// A query as the Entities window reads it: terms of one alternative stand behind each other.
function textOf(terms) {
  let text = '';
  for (const [i, t] of terms.entries()) {
    const joins = i > 0 && t.match === '|' && terms[i - 1].match === '|' && t.alternative === terms[i - 1].alternative;
    text += `${i === 0 ? '' : joins ? ' | ' : ', '}${t.match === '|' ? '' : t.match}${t.name}`;
  }
  return text;
}

export const queries = {
  title: 'Queries',
  open(root, api, state) {
    let sort = state.sort || 'selected', descending = state.order !== 'up', last = null;
    const term = (t) => {
      const sign = signs[t.match];
      return tag(sign ? `${sign[0]} ${t.name}` : t.name, sign && sign[1] ? 'none' : t.write ? 'write' : 'read');
    };
    const table = new Table([
      { title: 'Terms', draw: (r) => el('div', { class: 'tags' }, r.terms.length ? r.terms.map(term) : [el('span', { class: 'soft' }, 'every entity')], r.options.map((o) => tag(o))), state: (r) => JSON.stringify([r.terms, r.options]) },
      { title: 'Archetypes', number: true, sort: 'archetypes', text: (r) => count(r.archetypes) },
      { title: 'Rows', number: true, sort: 'rows', text: (r) => count(r.rows) },
      { title: 'Selected', number: true, sort: 'selected', text: (r) => count(r.selected) },
      { title: 'Skipped', number: true, sort: 'skipped', text: (r) => count(r.skipped) },
      { title: 'Filters', text: (r) => [r.shared_filters ? `${r.shared_filters} shared` : '', r.change_filters ? `${r.change_filters} changes` : ''].filter(Boolean).join(', ') || '\u2013' },
      { title: 'Shared by', number: true, sort: 'handles', text: (r) => count(r.handles) },
      { title: 'Systems', draw: (r) => tags(r.systems.map((s) => api.link(s, 'systems', { system: s }))), state: (r) => r.systems.join() },
      { title: '', draw: (r) => api.link('Entities', 'entities', { query: textOf(r.terms) }), state: (r) => r.terms.map((t) => t.match + t.name).join() },
    ], { key: (r) => r.id, sort, descending, label: 'Queries', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? '' : 'up' }); if (last) update(last); } });
    const sums = figures([]);
    root.append(panel('All queries', el('div', { class: 'body' }, sums)), panel('Queries', table.node));
    function update(data) {
      last = data;
      const skipped = data.rows.reduce((s, r) => s + r.skipped, 0);
      updateFigures(sums, [['Queries', count(data.total)], ['With filters', count(data.rows.filter((r) => r.shared_filters + r.change_filters).length)], ['Rows skipped', count(skipped)]]);
      table.update(sorted(data.rows, sort, descending), 'This world has no queries.');
    }
    api.watch([{ request: { do: 'queries' }, update }]);
    return {};
  },
};
