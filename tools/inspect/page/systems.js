// systems.js: what runs, for how long, why in this order; and the queries.
import { el, Table, panel, figures, updateFigures, count, ns, percent, tag, tags, setText, empty, sorted, steady, meter, partField, has } from '/ui.js';
import { curves, key } from '/chart.js';
import { Lanes, NO_EVENTS } from '/lanes.js';

// What the averages are compared with, also after another window was open: those of a mark, or of the
// moment in which the program was paused, whichever window showed it.
let marked = null, markedAs = 'pause sets a mark', marks = () => {};
function mark(list, what, frame) {
  if (!list.some((s) => s.average > 0)) return; // times were not taken
  marked = new Map(list.map((s) => [s.name, s.average]));
  markedAs = `compared with ${what} in frame ${count(frame)}`;
  marks();
}
export async function markPause(ask, frame) { mark((await ask({ do: 'systems' })).systems, 'the pause', frame); }

export const systems = {
  open(root, api, state) {
    let sort = state.sort || 'average', descending = state.order !== 'up', picked = null, last = null, schedule = null, writable = false;
    let slowest = 0, once = null, showsSlowest = false, budget = 0;
    const history = new Map(), begun = performance.now(); // of each system: [seconds, last, average], 10 s
    try { budget = Number(localStorage.getItem('weft-budget')) || 0; } catch { /* private mode */ }
    const sums = figures([]);
    const lanes = new Lanes({ still: true, label: 'The last frame over the workers' });
    const why = el('div', { class: 'body' }, empty('Choose a system.'));
    const table = new Table([
      { title: 'On', draw: (r) => el('input', { type: 'checkbox', class: 'switch', checked: r.enabled, disabled: !writable, 'aria-label': `${r.name} runs`, title: writable ? 'Switch on or off' : 'This inspector only reads', onchange: (e) => turn(r.name, e.target.checked) }), state: (r) => `${r.enabled}${writable}` },
      { title: 'System', sort: 'name', draw: (r) => el('button', { type: 'button', class: 'link', onclick: () => pick(r.name, true) }, r.name), state: (r) => r.name },
      { title: 'Stage', number: true, sort: 'stage', text: (r) => `${r.stage}${r.fused ? ' fused' : ''}` },
      { title: 'Last', number: true, sort: 'last', text: (r) => ns(r.last) },
      { title: 'Average', number: true, sort: 'average', text: (r) => ns(r.average) },
      { title: '99 %', number: true, sort: 'p99', text: (r) => ns(r.p99) },
      { title: 'Since the mark', number: true, sort: 'since', text: (r) => (r.since === null ? '\u2013' : r.since >= 9 ? `\u00d7 ${count(Math.round(r.since + 1))}` : `${r.since >= 0 ? '+' : '\u2212'}${Math.abs(r.since * 100).toFixed(0)} %`) },
      { title: 'Share', draw: (r) => meter(r.share, `${Math.round(r.share * 100)} % of the work of all systems`), state: (r) => r.share.toFixed(2) },
      { title: 'Rows', number: true, sort: 'rows', text: (r) => count(r.rows) },
      { title: 'Commands', number: true, sort: 'commands', text: (r) => count(r.commands) },
      { title: 'Touches', draw: (r) => el('div', { class: 'tags' }, [...r.flags.map((f) => tag(f)), ...r.access.map((a) => Object.assign(api.link(a.write ? `${a.name} \u270e` : a.name, 'entities', { query: a.name }), { className: `tag ${a.write ? 'write' : 'read'}`, title: a.write ? 'written' : 'read' }))]), state: (r) => JSON.stringify([r.access, r.flags]) },
    ], { key: (r) => r.name, sort, descending, label: 'Systems', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? '' : 'up' }); if (last) update(last); } });
    const marker = el('button', { type: 'button', title: 'Compare with the averages of now', onclick: () => last && mark(last.systems, 'the mark', api.status.frame) }, 'Mark');
    const markedAt = el('span', { class: 'soft' }, markedAs);
    const most = el('input', { type: 'text', id: 'budget', inputMode: 'decimal', class: 'few', value: budget ? String(budget) : '', placeholder: '16.7', onchange: () => { budget = Number(most.value) || 0; try { localStorage.setItem('weft-budget', String(budget)); } catch { /* private mode */ } if (last) update(last); } });
    const slow = el('button', { type: 'button', 'aria-pressed': 'false', disabled: true, onclick: async () => { showsSlowest = !showsSlowest; slow.setAttribute('aria-pressed', String(showsSlowest)); if (showsSlowest) { try { lanes.update(await api.ask({ do: 'timeline', slowest: true, pixels: 1200 })); } catch (p) { slow.title = p.message; } } } }, 'Slowest frame');
    const part = partField('a part of a name, a group or a component', state.part, () => { api.keep({ part: part.value }); if (last) update(last); });
    const frame = panel('Frame', el('div', { class: 'body' }, sums)), untraced = Object.assign(empty(...NO_EVENTS), { hidden: true }), spans = panel('The last frame over the workers', lanes.node, untraced), all = panel('Systems', el('div', { class: 'query body' }, part), table.node);
    frame.head.append(el('label', { class: 'row-gap', for: 'budget' }, el('span', { class: 'soft' }, 'Budget, ms'), most));
    spans.head.append(slow);
    all.head.append(el('div', { class: 'row-gap' }, markedAt, marker));
    const past = el('div'), pastKey = el('ul', { class: 'key' }), pastSums = figures([]), over = panel('The last 10 s', el('div', { class: 'body' }, pastSums, pastKey, past));
    over.hidden = true;
    key(pastKey, ['last', 'average']);
    const order = panel('Why in this order', why);
    root.append(frame, spans, all, order, over);

    marks = () => { setText(markedAt, markedAs); if (last) update(last); };
    function remember(data) {
      const at = (performance.now() - begun) / 1000;
      for (const r of data.systems) {
        if (!history.has(r.name)) history.set(r.name, []);
        const list = history.get(r.name);
        list.push([at, r.last, r.average]);
        while (list.length > 1 && at - list[0][0] > 10) list.shift();
      }
      const list = history.get(picked);
      over.hidden = !list || list.length < 3;
      if (over.hidden) return;
      const times = list.map((p) => p[1]).sort((a, b) => a - b), at100 = (q) => ns(times[Math.min(times.length - 1, Math.floor(times.length * q))]);
      updateFigures(pastSums, [['Median', at100(0.5)], ['90 %', at100(0.9)], ['99 %', at100(0.99)], ['Most', at100(1)], ['Samples', count(times.length)]]);
      setText(over.head.firstChild, `${picked}: the last 10 s`);
      curves(past, [1, 2].map((k) => ({ name: ['last', 'average'][k - 1], points: list.map((p) => [p[0], p[k]]) })), { height: 130, format: ns, formatX: (x) => (x === 0 ? 'now' : `${Math.round(x)} s`), label: `Times of ${picked} over the last 10 s` });
    }

    function update(data) {
      if (data !== last) remember(data);
      last = data;
      writable = data.writable;
      if (once) once.hidden = !writable;
      updateFigures(sums, [['Frame', ns(data.frame)], ['Average', ns(data.average)], ['99 %', ns(data.p99)], ['Critical path', ns(data.critical)],
        ['Playback', ns(data.playback)], ['Relations', ns(data.relations)], ['Observers', ns(data.observers)], ...(data.hashing ? [['State log', ns(data.hashing)]] : []), ['Stages', count(data.stages)], ['Sync points', count(data.sync_points)], ['Commands', count(data.commands)], ...(budget ? [['Of the budget', percent(data.average, budget * 1e6)]] : [])]);
      frame.classList.toggle('over', budget > 0 && data.average > budget * 1e6);
      const sum = data.systems.reduce((s, r) => s + (r.enabled ? r.average : 0), 0); // one that is off has no share
      for (const r of data.systems) {
        r.share = sum > 0 && r.enabled ? r.average / sum : 0;
        r.since = marked && marked.get(r.name) ? r.average / marked.get(r.name) - 1 : null;
      }
      const rows = data.systems.filter((r) => has(r.name, part.value) || has(r.group, part.value) || r.access.some((a) => has(a.name, part.value)));
      table.update(steady(table, sorted(rows, sort, descending)), part.value ? 'No system has this.' : 'This world has no systems.');
      for (const r of rows) table.rows.get(r.name).node.classList.toggle('off', !r.enabled);
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === picked));
    }

    // The program keeps the slowest frame since this window is open, shown or not.
    function frameOf(data) {
      untraced.hidden = data.traced;
      lanes.node.hidden = !data.traced;
      if (data.slowest && data.slowest !== slowest) { slowest = data.slowest; slow.disabled = false; setText(slow, `Slowest frame, ${ns(slowest)}`); }
      if (!showsSlowest) lanes.update(data);
    }
    async function runOnce(name) {
      try { update(await api.ask({ do: 'run_system', system: name })); } catch (problem) { why.replaceChildren(el('p', { class: 'note bad' }, problem.message)); }
    }
    async function turn(name, enabled) {
      try { update(await api.ask({ do: 'switch', system: name, enabled })); } catch (problem) { why.replaceChildren(el('p', { class: 'note bad' }, problem.message)); }
    }

    async function pick(name, scrolls) {
      picked = name;
      api.keep({ system: name }, true);
      try {
        schedule = (await api.ask({ do: 'schedule' })).schedule;
        if (picked === name && schedule) { explain(name); if (scrolls) order.scrollIntoView({ block: 'nearest' }); }
      } catch (problem) { why.replaceChildren(el('p', { class: 'note bad' }, problem.message)); }
    }

    function explain(name) {
      const text = el('pre', { class: 'why' });
      const tell = async (a, b) => { try { text.textContent = (await api.ask({ do: 'explain', a, b })).text; } catch (p) { text.textContent = p.message; } };
      const other = el('select', { 'aria-label': `${name} and another system`, onchange: () => { if (other.value) tell(other.value, name); } }, el('option', { value: '' }, 'another system'), schedule.systems.map((s) => s.name).filter((n) => n !== name).sort().map((n) => el('option', { value: n }, n)));
      const edge = (e) => el('button', { type: 'button', title: 'Why?', onclick: () => tell(e.from, e.to) }, `${e.from} \u2192 ${e.to}: ${e.component ?? 'by name'}`);
      const list = (title, edges) => el('div', {}, el('h3', {}, title), edges.length ? el('div', { class: 'row-gap' }, edges.map(edge)) : el('p', { class: 'soft' }, 'none'));
      const syncs = schedule.sync_points.filter((s) => s.recorder === name || s.observer === name);
      const parts = [el('div', { class: 'row-gap' }, el('strong', {}, name), once = el('button', { type: 'button', hidden: !writable, title: 'Now, whether it is due or not', onclick: () => runOnce(name) }, 'Run once')),
        list(`Runs after`, schedule.edges.filter((e) => e.to === name)),
        list(`Runs before`, schedule.edges.filter((e) => e.from === name)),
        syncs.length ? el('div', {}, el('h3', {}, 'Sync points'), tags(syncs.map((s) => s.effect === 'any' ? `commands of ${s.recorder} before ${s.observer}: one of the two is exclusive` : `${s.observer} could see what ${s.recorder} ${s.effect}${s.component ? ` (${s.component})` : ''}`))) : null,
        el('label', { class: 'row-gap' }, el('span', { class: 'soft' }, 'What is between it and'), other),
        text];
      why.replaceChildren(...parts.filter(Boolean));
    }

    api.watch([{ request: { do: 'systems' }, update },
      { request: { do: 'timeline', frame: true, pixels: 1200 }, update: frameOf }]);
    if (state.system) pick(state.system);
    return { find: () => part.focus(), close: () => { marks = () => {}; lanes.close(); } };
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
  open(root, api, state) {
    let sort = state.sort || 'selected', descending = state.order !== 'up', last = null;
    const term = (t) => {
      const sign = signs[t.match];
      return Object.assign(tag(`${sign && sign[0] ? `${sign[0]} ` : ''}${t.name}${t.write ? ' \u270e' : ''}`, sign && sign[1] ? 'none' : t.write ? 'write' : 'read'), { title: t.write ? 'written' : 'read' });
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
    const part = partField('a part of the name of a component or a system', state.part, () => { api.keep({ part: part.value }); if (last) update(last); });
    root.append(panel('All queries', el('div', { class: 'body' }, sums)), panel('Queries', el('div', { class: 'query body' }, part), table.node));
    function update(data) {
      last = data;
      const skipped = data.rows.reduce((s, r) => s + r.skipped, 0);
      updateFigures(sums, [['Queries', count(data.total)], ['With filters', count(data.rows.filter((r) => r.shared_filters + r.change_filters).length)], ['Rows skipped', count(skipped)]]);
      const rows = data.rows.filter((r) => has(textOf(r.terms), part.value) || r.systems.some((s) => has(s, part.value)));
      table.update(sorted(rows, sort, descending), part.value ? 'No query has this.' : 'This world has no queries.');
    }
    api.watch([{ request: { do: 'queries' }, update }]);
    return { find: () => part.focus() };
  },
};
