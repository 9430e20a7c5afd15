// timeline.js: the last seconds of the trace, and the job system.
import { el, Table, panel, figures, updateFigures, count, ns, short, empty, percent, meter } from '/ui.js';
import { curves, key } from '/chart.js';
import { Lanes, NO_EVENTS } from '/lanes.js';

export const timeline = {
  open(root, api) {
    let following = true, span = 50e6, view = null, timer = 0, told = 0;
    const lanes = new Lanes({ label: 'Timeline of the workers: arrow keys move, + and - zoom', onView: (from, to) => { view = [from, to]; follow(false); clearTimeout(timer); timer = setTimeout(fetchView, 60); } });
    const live = el('button', { type: 'button', 'aria-pressed': 'true', onclick: () => { follow(!following); if (following) watch(); else fetchView(); } }, 'Follow');
    const size = el('select', { 'aria-label': 'Length', onchange: () => { span = Number(size.value); follow(true); watch(); } },
      [[1e6, '1 ms'], [10e6, '10 ms'], [50e6, '50 ms'], [200e6, '200 ms'], [1e9, '1 s'], [5e9, '5 s']].map(([v, t]) => el('option', { value: String(v), selected: v === span }, t)));
    const say = el('span', { class: 'soft', role: 'status' });
    const holder = el('div', {}, empty('Waiting for events.'));
    const made = panel('Timeline', holder);
    made.head.append(el('div', { class: 'row-gap' }, say, live, size,
      el('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => lanes.zoom(0.5) }, '+'),
      el('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => lanes.zoom(2) }, '\u2212'),
      el('button', { type: 'button', onclick: save }, 'Export')));
    root.append(made, el('p', { class: 'soft wide' }, 'Drag or use the arrow keys to move, the wheel or + and \u2212 to zoom. The export opens in ui.perfetto.dev and chrome://tracing.'));

    function follow(on) { following = on; live.setAttribute('aria-pressed', String(on)); if (!on) api.watch([{ request: { do: 'jobs' }, update() {} }]); }
    function update(data) {
      if (!data.traced) { holder.replaceChildren(empty(...NO_EVENTS)); return; }
      if (lanes.node.parentNode !== holder) holder.replaceChildren(lanes.node);
      lanes.update(data);
      const lost = data.lanes.reduce((s, l) => s + l.dropped, 0);
      if (lost !== told) { told = lost; say.textContent = `${count(lost)} events were lost`; }
    }
    async function fetchView() {
      const { from, to } = view ? { from: view[0], to: view[1] } : lanes.data || {};
      if (from === undefined) return;
      try { update(await api.ask({ do: 'timeline', from, to, pixels: lanes.width })); } catch (p) { say.textContent = p.message; }
    }
    function watch() { view = null; api.watch([{ request: { do: 'timeline', span, pixels: 1200 }, update: (d) => { if (following) update(d); } }]); }
    async function save() {
      try {
        const data = await api.ask({ do: 'export' });
        const link = el('a', { href: URL.createObjectURL(new Blob([JSON.stringify(data)], { type: 'application/json' })), download: 'weft-trace.json' });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
        say.textContent = `${count(data.traceEvents.length)} spans exported`;
      } catch (p) { say.textContent = p.message; }
    }
    watch();
    return { close: () => { clearTimeout(timer); lanes.close(); } };
  },
};

export const jobs = {
  open(root, api) {
    const kept = [], facts = figures([]), chart = el('div'), legend = el('ul', { class: 'key' });
    const table = new Table([
      { title: 'Worker', class: 'name', text: (r) => r.name },
      { title: 'Busy', number: true, text: (r) => (r.busy === undefined ? '\u2013' : percent(r.busy, 1)) },
      { title: '', draw: (r) => meter(r.busy || 0, 'share of the last second'), state: (r) => (r.busy || 0).toFixed(2) },
      { title: 'Jobs/s', number: true, text: (r) => short(r.rate.submitted) },
      { title: 'Children/s', number: true, text: (r) => short(r.rate.children) },
      { title: 'Steals/s', number: true, text: (r) => short(r.rate.stolen) },
      { title: 'Parks/s', number: true, text: (r) => short(r.rate.parks) },
      { title: 'Wake-ups/s', number: true, text: (r) => short(r.rate.wakes) },
      { title: 'Searching', number: true, text: (r) => percent(r.rate.spin, 1e9) },
    ], { key: (r) => r.name, label: 'Workers' });
    const body = el('div', { class: 'body' }, legend, chart);
    root.append(panel('The pool', el('div', { class: 'body' }, facts)), panel('Rates', body), panel('Workers', table.node));
    const fields = ['submitted', 'children', 'stolen', 'parks', 'wakes', 'spin', 'loops_split', 'loops_inlined', 'graph_runs'];
    const rate = (now, then, seconds) => Object.fromEntries(fields.map((f) => [f, Math.max(0, (now[f] - then[f]) / seconds)]));
    key(legend, ['steals', 'parks', 'wake-ups', 'loops split']);

    function update(data) {
      kept.push(data);
      while (kept.length > 300) kept.shift();
      const then = kept[Math.max(0, kept.length - 11)], seconds = (data.now - then.now) / 1e9 || 1, all = rate(data, then, seconds);
      updateFigures(facts, [['Jobs', count(data.submitted)], ['Children', count(data.children)], ['Loops split', `${short(all.loops_split)}/s`], ['Loops inline', `${short(all.loops_inlined)}/s`],
        ['Graphs', `${short(all.graph_runs)}/s`], ['Lost races', count(data.lost_races)], ['Most slots', count(data.high_water)], ['Wake-up', ns(data.wake_ns)]]);
      table.update(data.workers.map((w, i) => ({ ...w, name: `worker ${i}`, rate: rate(w, then.workers[i] || w, seconds) })));
      if (kept.length < 3) return;
      const step = (i, f) => { const a = kept[Math.max(0, i - 5)], b = kept[i]; return b.now > a.now ? (b[f] - a[f]) / ((b.now - a.now) / 1e9) : 0; };
      const series = ['stolen', 'parks', 'wakes', 'loops_split'].map((f) => ({ name: f, points: kept.map((k, i) => [k.now / 1e9, step(i, f)]) }));
      series.forEach((s) => { s.points[0][1] = s.points[1][1]; });
      curves(chart, series, { height: 190, format: (v) => `${short(v)}/s`, formatX: (x) => (x === 0 ? 'now' : `${Math.round(x)} s`), label: 'Steals, parks, wake-ups and split loops a second' });
    }
    api.watch([{ request: { do: 'jobs' }, update }]);
    return {};
  },
};
