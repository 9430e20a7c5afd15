// program.js: panels that the program has added (weft_inspect_panel), and what the world tells its observers.
import { el, Table, panel, updateFigures, figures, empty, tag, sorted } from '/ui.js';

export const program = {
  open(root, api) {
    const known = new Map(), problem = el('p', { class: 'note bad', role: 'alert', hidden: true }), holder = el('div', { class: 'stack' });
    const none = panel('Panels of the program', empty('This program adds no panels.', 'weft_inspect_panel adds figures, tables, texts and buttons of your own.'));
    root.append(problem, none, holder);
    async function press(name) {
      try { problem.hidden = true; update(await api.ask({ do: 'press', panel: name })); } catch (p) { problem.textContent = p.message; problem.hidden = false; }
    }
    function make(one) {
      const sums = figures([]), text = el('p', { class: 'wide' }), rows = el('div'), made = { node: panel(one.name, el('div', { class: 'body stack' }, text, sums, rows)), keys: '' };
      made.button = el('button', { type: 'button', onclick: () => press(one.name) }, one.button || '');
      made.node.head.append(made.button);
      made.update = (now, writable) => {
        const shows = now.shows || {}, list = shows.rows || [], keys = [...new Set(list.flatMap((r) => Object.keys(r)))];
        made.button.hidden = !now.button;
        made.button.disabled = !writable;
        made.button.title = writable ? '' : 'This inspector only reads';
        text.textContent = shows.text || '';
        text.hidden = !shows.text;
        updateFigures(sums, Object.entries(shows.figures || {}).map(([k, v]) => [k, String(v)]));
        if (made.keys !== keys.join()) {
          made.keys = keys.join();
          made.table = new Table(keys.map((k) => ({ title: k, text: (r) => (r[k] === undefined ? '' : typeof r[k] === 'object' ? JSON.stringify(r[k]) : String(r[k])) })), { label: one.name });
          rows.replaceChildren(made.table.node);
        }
        if (made.table) made.table.update(list);
        rows.hidden = !list.length;
      };
      holder.append(made.node);
      return made;
    }
    function update(data) {
      for (const [name, made] of known) if (!data.panels.some((p) => p.name === name)) { made.node.remove(); known.delete(name); }
      for (const one of data.panels) {
        if (!known.has(one.name)) known.set(one.name, make(one));
        known.get(one.name).update(one, data.writable);
      }
      none.hidden = data.panels.length > 0;
    }
    api.watch([{ request: { do: 'panels' }, update }]);
    return {};
  },
};

export const observers = {
  open(root, api, state) {
    let sort = state.sort || 'order', descending = state.order === 'down', last = [], timer = 0;
    const table = new Table([
      { title: 'Runs', number: true, sort: 'order', text: (r) => String(r.order) },
      { title: 'Observer', class: 'name', sort: 'name', text: (r) => r.name },
      { title: 'Is told of', sort: 'on', draw: (r) => tag(r.on), state: (r) => r.on },
      { title: 'Of', sort: 'component', draw: (r) => (r.component ? api.link(r.component, 'components', { component: r.component }) : el('span', { class: 'soft' }, 'all entities')), state: (r) => r.component },
      { title: 'Batches', text: (r) => (r.is_parallel ? 'on several workers' : 'one after the other') },
    ], { key: (r) => r.name, sort, descending, label: 'Observers', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? 'down' : '' }); show(); } });
    root.append(panel('Observers', table.node));
    function show() { table.update(sorted(last, sort, descending), 'This world has no observers.'); }
    async function look() {
      clearTimeout(timer);
      try {
        const { schedule } = await api.ask({ do: 'schedule' });
        last = ((schedule && schedule.observers) || []).map((o, i) => ({ ...o, order: i + 1 }));
        show();
      } catch { /* the frame says that there is no answer */ }
      timer = setTimeout(look, 2000);
    }
    api.watch([]);
    look();
    return { close: () => clearTimeout(timer) };
  },
};
