// world.js: memory by category over time; scenes.
import { el, Table, panel, figures, updateFigures, count, bytes, percent, ns, empty, tag, tags, setText } from '/ui.js';
import { curves, key } from '/chart.js';

export const memory = {
  open(root, api) {
    const kept = [], facts = figures([]), chart = el('div'), legend = el('ul', { class: 'key' });
    const table = new Table([
      { title: 'Category', class: 'name', text: (r) => r.name },
      { title: 'Bytes', number: true, text: (r) => bytes(r.bytes) },
      { title: 'Share', number: true, text: (r) => percent(r.bytes, r.all) },
      { title: 'Since this window is open', number: true, text: (r) => (r.bytes === r.first ? '\u2013' : `${r.bytes > r.first ? '+' : '\u2212'}${bytes(Math.abs(r.bytes - r.first))}`) },
    ], { key: (r) => r.name, label: 'Memory by category' });
    root.append(panel('The world', el('div', { class: 'body' }, facts)),
      panel('Over time', el('div', { class: 'body' }, legend, chart)), panel('Categories', table.node));
    function update(data) {
      kept.push(data);
      while (kept.length > 600) kept.shift();
      updateFigures(facts, [['All', bytes(data.total)], ['Units of 16 KiB', count(data.units)], ['Megachunks', count(data.megachunks)],
        ['Allocations', count(data.allocations)], ['Rows moved', count(data.rows_moved)], ['Bytes moved', bytes(data.bytes_moved)]]);
      table.update(data.categories.map((c, i) => ({ ...c, all: data.total, first: kept[0].categories[i].bytes })).sort((a, b) => b.bytes - a.bytes));
      const order = data.categories.map((c, i) => [c.bytes, i]).sort((a, b) => b[0] - a[0]).slice(0, 6).filter((c) => c[0] > 0).map((c) => c[1]);
      if (legend.dataset.order !== order.join()) { legend.dataset.order = order.join(); key(legend, order.map((i) => data.categories[i].name)); }
      curves(chart, order.map((i) => ({ name: data.categories[i].name, points: kept.map((k) => [k.now / 1e9, k.categories[i].bytes]) })),
        { stacked: true, height: 200, base: 2, format: bytes, formatX: (x) => (x === 0 ? 'now' : `${Math.round(x)} s`), label: 'Memory by category over time' });
    }
    // Unchanged answers are not sent again: the curve goes on with the last one.
    const timer = setInterval(() => { const last = kept[kept.length - 1]; if (last && performance.now() - seen > 900) update({ ...last, now: last.now + 1e9 }); }, 1000);
    let seen = 0;
    api.watch([{ request: { do: 'memory' }, update: (d) => { seen = performance.now(); update(d); } }]);
    return { close: () => clearInterval(timer) };
  },
};

export const scenes = {
  open(root, api) {
    const facts = figures([]), holder = el('div', {}, empty('Waiting for an answer.'));
    const problems = new Table([
      { title: 'Where', class: 'mono', text: (r) => `${r.file}${r.line ? `:${r.line}:${r.column}` : ''}` },
      { title: 'Object', class: 'name', text: (r) => r.object || '\u2013' },
      { title: 'What is wrong', draw: (r) => { const [first, ...rest] = r.text.split('\n'); return el('div', {}, el('pre', { class: 'why' }, first), el('pre', { class: 'why code' }, rest.join('\n'))); }, state: (r) => r.text },
    ], { key: (r, i) => i, label: 'Mistakes in documents' });
    const sections = new Table([
      { title: 'Section', class: 'name', text: (r) => r.name },
      { title: 'State', draw: (r) => tag(r.state), state: (r) => r.state },
      { title: 'Rows', number: true, text: (r) => (r.rows === undefined ? '\u2013' : count(r.rows)) },
      { title: 'Memory', number: true, text: (r) => (r.bytes === undefined ? '\u2013' : bytes(r.bytes)) },
      { title: '', draw: (r) => el('button', { type: 'button', disabled: !r.writable, onclick: () => load(r) }, r.state === 'loaded' ? 'Unload' : 'Load'), state: (r) => `${r.state}${r.writable}` },
    ], { key: (r) => r.name, label: 'Sections' });
    const requests = new Table([
      { title: 'Section', class: 'name', text: (r) => r.section },
      { title: 'State', text: (r) => r.state },
      { title: 'Done', number: true, text: (r) => (r.done === undefined ? '\u2013' : percent(r.done, 1)) },
    ], { key: (r, i) => i, label: 'Requests' });
    const links = el('div'), streams = new Map(), streamed = el('div');
    const bake = panel('Bake', el('div', { class: 'body' }, facts)), wrong = panel('Mistakes', problems.node);
    const parts = panel('Sections', sections.node), wanted = panel('Requests', requests.node);
    root.append(holder, bake, wrong, links, streamed, parts, wanted);
    // A live link: its documents, what is wrong in them, where the run and they had different minds.
    const more = (all, shown) => (all > shown.length ? [el('span', { class: 'soft' }, `the first ${shown.length} of ${count(all)}`)] : []);
    function link(one) {
      return panel('Live link', el('div', { class: 'body' }, tags([...one.documents.map((d) => tag(d)), ...more(one.document_count, one.documents)]),
        el('h3', {}, 'Mistakes'), more(one.mistake_count, one.mistakes), one.mistakes.length ? one.mistakes.map((m) => el('pre', { class: 'why' }, m)) : el('p', { class: 'soft' }, 'none'),
        el('h3', {}, 'Last conflicts'), one.conflicts.length ? one.conflicts.map((c) => el('p', { class: 'note' }, c)) : el('p', { class: 'soft' }, 'none')));
    }
    function stream(one, writable) {
      let known = streams.get(one.stream);
      if (!known) {
        known = { facts: figures([]), table: new Table([
          { title: 'Section', number: true, text: (r) => String(r.section) },
          { title: 'State', draw: (r) => tag(r.state, r.state === 'failed' ? 'bad' : ''), state: (r) => r.state },
          { title: 'Asked for', text: (r) => (r.asked ? 'yes' : '\u2013') },
          { title: 'Rows', number: true, text: (r) => count(r.rows) },
          { title: 'Chunks', number: true, text: (r) => count(r.chunks) },
          { title: 'In the file', number: true, text: (r) => bytes(r.bytes) },
          { title: '', draw: (r) => (r.text ? el('pre', { class: 'why' }, r.text) : el('button', { type: 'button', disabled: !r.writable, onclick: () => ask({ stream: r.stream, section: String(r.section), load: !r.asked }) }, r.asked ? 'Unload' : 'Load')), state: (r) => `${r.asked}${r.writable}${r.text || ''}` },
        ], { key: (r) => r.section, label: `Sections of ${one.path}` }) };
        known.node = panel(one.path, el('div', { class: 'body' }, known.facts), known.table.node);
        streams.set(one.stream, known);
        streamed.append(known.node);
      }
      updateFigures(known.facts, [['Sections', count(one.section_count)], ['Shown', count(one.sections.length)], ['Loaded', count(one.loaded)], ['Reading', count(one.reading)],
        ['Waiting', count(one.waiting)], ['Failed', count(one.failed)], ['Rows', count(one.rows)]]);
      known.table.update(one.sections.map((s) => ({ ...s, stream: one.stream, writable })), 'No sections.');
    }
    function update(data) {
      const source = data.source || {}, told = JSON.stringify(data.links);
      if (links.dataset.told !== told) { links.dataset.told = told; links.replaceChildren(...data.links.map(link)); }
      for (const [number, known] of streams) if (!data.streams.some((s) => s.stream === number)) { known.node.remove(); streams.delete(number); }
      for (const one of data.streams) stream(one, data.writable);
      holder.hidden = data.there;
      holder.replaceChildren(...(data.there ? [] : [empty('This program shows no scenes.', 'Live links and streams of the world stand here by themselves; weft_inspect_scene and weft_inspect_sections tell of more.')]));
      bake.hidden = wrong.hidden = !data.bake;
      parts.hidden = !source.sections;
      wanted.hidden = !source.requests;
      if (data.bake) {
        const b = data.bake;
        updateFigures(facts, [['Files', count(b.files)], ['Objects', count(b.objects)], ['Baked', count(b.baked)], ['Added', count(b.added)], ['Changed', count(b.changed)],
          ['Removed', count(b.removed)], ['Entities', count(b.entities)], ['Records', bytes(b.bytes)], ['Took', ns(b.seconds * 1e9)], ['Mistakes', count(data.problem_count)]]);
        problems.update(data.problems, 'The documents have no mistakes.');
        setText(wrong.head.firstChild, data.problems.length < data.problem_count ? `Mistakes, the first ${data.problems.length} of ${count(data.problem_count)}` : 'Mistakes');
      }
      sections.update((source.sections || []).map((s) => ({ ...s, writable: data.requestable })), 'No sections.');
      requests.update(source.requests || [], 'Nothing is being loaded.');
    }
    const load = (row) => ask({ section: row.name, load: row.state !== 'loaded' });
    async function ask(request) {
      try { update(await api.ask({ do: 'section', ...request })); } catch (p) { holder.hidden = false; holder.replaceChildren(el('p', { class: 'note bad' }, p.message)); }
    }
    api.watch([{ request: { do: 'scenes' }, update }]);
    return {};
  },
};
