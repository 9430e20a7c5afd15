// groups.js: the phases of a frame: which systems they have, what they take, a switch for each.
import { el, Table, panel, count, ns, meter, sorted, empty } from '/ui.js';

export const groups = {
  open(root, api, state) {
    let sort = state.sort || 'average', descending = state.order !== 'up', last = null, isOn = {}, timer = 0;
    const problem = el('p', { class: 'note bad', role: 'alert', hidden: true });
    const table = new Table([
      { title: 'On', draw: (r) => el('input', { type: 'checkbox', class: 'switch', checked: r.enabled, disabled: !r.writable, 'aria-label': `${r.name} runs`, title: r.writable ? 'Switch on or off' : 'This inspector only reads', onchange: (e) => turn(r.name, e.target.checked) }), state: (r) => `${r.enabled}${r.writable}` },
      { title: 'Group', sort: 'name', class: 'name', text: (r) => r.name },
      { title: 'Average', number: true, sort: 'average', text: (r) => ns(r.average) },
      { title: 'Share', draw: (r) => meter(r.share, `${Math.round(r.share * 100)} % of the work of all systems`), state: (r) => r.share.toFixed(2) },
      { title: 'Rows', number: true, sort: 'rows', text: (r) => count(r.rows) },
      { title: 'Commands', number: true, sort: 'commands', text: (r) => count(r.commands) },
      { title: 'Systems', draw: (r) => el('div', { class: 'tags' }, r.systems.map((s) => Object.assign(api.link(s.name, 'systems', { system: s.name }), { className: s.enabled ? 'tag' : 'tag off' }))), state: (r) => r.systems.map((s) => s.name + s.enabled).join() },
    ], { key: (r) => r.name, sort, descending, label: 'Groups', onSort: (s, d) => { sort = s; descending = d; api.keep({ sort, order: d ? '' : 'up' }); if (last) update(last); } });
    root.append(panel('Groups', problem, table.node));

    function update(data) {
      last = data;
      const rows = new Map(), all = data.systems.reduce((s, r) => s + (r.enabled ? r.average : 0), 0);
      for (const s of data.systems) {
        if (!rows.has(s.group)) rows.set(s.group, { name: s.group, enabled: isOn[s.group] !== false, writable: data.writable, average: 0, rows: 0, commands: 0, systems: [] });
        const group = rows.get(s.group);
        group.systems.push(s);
        for (const what of ['average', 'rows', 'commands']) group[what] += s[what];
      }
      const list = [...rows.values()].map((g) => ({ ...g, share: all > 0 ? g.average / all : 0 }));
      table.update(sorted(list, sort, descending), 'This world has no systems.');
      for (const [id, line] of table.rows) line.node.setAttribute('aria-selected', String(id === state.group));
    }
    async function turn(group, enabled) {
      try { problem.hidden = true; await api.ask({ do: 'switch_group', group, enabled }); look(); } catch (p) { problem.textContent = p.message; problem.hidden = false; }
    }
    async function look() {
      clearTimeout(timer);
      try {
        const { schedule } = await api.ask({ do: 'schedule' });
        if (schedule) isOn = Object.fromEntries(schedule.systems.map((s) => [s.group, s.is_group_enabled]));
        if (last) update(last);
      } catch (p) { if (!last) root.replaceChildren(empty(p.message)); }
      timer = setTimeout(look, 2000);
    }
    look();
    api.watch([{ request: { do: 'systems' }, update }]);
    return { close: () => clearTimeout(timer) };
  },
};
