// entities.js: entities by query, by name, by relation; one entity with its values.
import { el, panel, count, setText, empty } from '/ui.js';
import { EntityList } from '/list.js';
import { values, undo, undone } from '/fields.js';
import { Pins } from '/pins.js';

export const entities = {
  open(root, api, state) {
    let mode = ['name', 'tree'].includes(state.mode) ? state.mode : 'query', query = state.query || '', part = state.part || '', relation = state.relation || null;
    let picked = state.entity || null;
    const keep = (isStep) => api.keep({ mode: mode === 'query' ? '' : mode, query, part, relation: mode === 'tree' ? relation : '', ...rows.state(), entity: picked }, isStep);
    const detail = panel('Entity', el('div', { class: 'body' }, empty('Choose an entity.')));
    const list = panel('Entities');
    const input = el('input', { type: 'text', id: 'query', placeholder: 'Position, !Frozen, ?Name', autocomplete: 'off', spellcheck: false, 'aria-label': 'Query', list: 'types' });
    const types = el('datalist', { id: 'types' });
    const problem = el('p', { class: 'note bad', role: 'alert', hidden: true });
    const holder = el('div');
    const rows = new EntityList({ api, state, pick, refuse, source: () => (mode === 'name' ? { part } : { query }),
      changed: (isStep) => { keep(isStep); watch(); }, said: () => (mode === 'name' ? 'No name contains this.' : rows.gone ? 'Nothing was lost since then.' : 'No entity is selected.') });
    const foot = rows.foot;
    const form = el('form', { class: 'query body', onsubmit: (e) => { e.preventDefault(); run(); } }, input, el('button', { type: 'submit', class: 'primary' }, 'Run'));
    const filters = el('div', { class: 'query body under' }, rows.filter, rows.picker);
    const choose = el('select', { 'aria-label': 'Relation', hidden: true, onchange: () => { relation = choose.value; keep(true); showTree(); } });
    const modes = el('div', { class: 'modes', role: 'group', 'aria-label': 'List by' }, [['query', 'Query'], ['name', 'Name'], ['tree', 'Tree']].map(([id, text]) =>
      el('button', { type: 'button', 'aria-pressed': String(id === mode), onclick: (e) => setMode(id, e.target) }, text)));
    list.head.append(el('div', { class: 'row-gap' }, choose, modes));
    list.append(types, form, filters, problem, holder, foot);
    const hint = el('p', { class: 'soft wide' }, 'A has it \u00b7 !A lacks it \u00b7 ?A shown if there \u00b7 A | B one of them \u00b7 commas between terms; empty: every entity.');
    const pins = new Pins();
    const back1 = el('button', { type: 'button', title: 'Take the last change of a value back', hidden: true, onclick: async () => { try { say2.textContent = `${await undo()} is as it was`; } catch (p) { say2.textContent = p.message; } } }, 'Undo'), say2 = el('span', { class: 'soft', role: 'status' });
    undone.changed = () => { back1.hidden = !undone.list.length; };
    undone.changed();
    detail.head.append(el('div', { class: 'row-gap' }, say2, back1));
    const make = el('button', { type: 'button', hidden: !api.writable, title: 'An entity with the components of the query', onclick: create }, 'New');
    api.onStatus(() => { make.hidden = !api.writable || mode === 'tree'; moving.hidden = !api.writable; });
    list.head.firstChild.after(make);
    root.append(hint, el('div', { class: 'split' }, list, el('div', { class: 'stack' }, detail, pins.node)));
    holder.replaceChildren(empty('Waiting for an answer.'));

    function setMode(id, button) {
      mode = id;
      rows.reset();
      showMode();
      for (const other of modes.children) other.setAttribute('aria-pressed', String(other === button));
      keep(true);
      if (mode === 'tree') showTree(); else watch();
    }

    function showMode() {
      form.hidden = filters.hidden = mode === 'tree';
      hint.hidden = mode !== 'query';
      foot.hidden = true; // until there are rows
      choose.hidden = mode !== 'tree';
      input.placeholder = mode === 'name' ? 'a part of a name' : 'Position, !Frozen, ?Name';
      input.setAttribute('aria-label', mode === 'name' ? 'Name' : 'Query');
      if (mode === 'name') input.removeAttribute('list'); else input.setAttribute('list', 'types');
      input.value = mode === 'name' ? part : query;
      rows.clear();
      if (mode !== 'tree') holder.replaceChildren(empty('Waiting for an answer.'));
      problem.hidden = true;
    }

    function run() {
      if (mode === 'name') part = input.value.trim(); else query = input.value.trim();
      rows.reset();
      keep(true);
      watch();
    }
    const link = (r) => el('button', { type: 'button', class: 'link', onclick: () => pick(r.entity) }, r.name || r.entity);
    function arrived() {
      input.removeAttribute('aria-invalid');
      rows.filter.removeAttribute('aria-invalid');
      problem.hidden = true;
      if (rows.scroll.parentNode !== holder) holder.replaceChildren(rows.scroll);
      foot.hidden = mode === 'tree';
    }
    function refuse(text) {
      (rows.where && /filter|called|value of|no number/.test(text) ? rows.filter : input).setAttribute('aria-invalid', 'true');
      problem.textContent = text;
      problem.hidden = false;
      holder.replaceChildren();
      rows.clear();
      foot.hidden = true;
    }

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
        tree.addEventListener('keydown', treeKeys);
        take(null);
        holder.replaceChildren(moving, el('div', { class: 'scroll' }, tree));
        await fill(tree, null, 0);
        if (tree.firstChild) tree.firstChild.tabIndex = 0;
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
      for (const row of data.rows) {
        const item = branch(row);
        parent.append(item);
        if (row.sources && opened.has(row.entity)) await item.open();
      }
      if (data.next) {
        const more = el('li', { role: 'none' }, el('button', { type: 'button', class: 'link', onclick: () => { more.remove(); fill(parent, entity, data.next); } }, 'more'));
        parent.append(more);
      }
    }
    // ---- to another target: dragged there, or taken by m and put down by Enter
    const opened = new Set(), moving = el('div', { class: 'body under row-gap moving' });
    let taken = null;
    function take(row) {
      taken = row;
      const name = row && (row.name || row.entity), off = el('button', { type: 'button', onclick: () => put(null) }, `No ${relation}`);
      off.addEventListener('dragover', (e) => e.preventDefault());
      off.addEventListener('drop', (e) => { e.preventDefault(); put(null); });
      moving.hidden = !api.writable;
      moving.replaceChildren(el('span', { class: 'soft', role: 'status' }, row ? `${name}: drop it on its new ${relation}, or go there and press Enter.` : `Drag one onto its new ${relation}, or press m on it.`),
        ...(row ? [off, el('button', { type: 'button', onclick: () => take(null) }, 'Leave it')] : []));
    }
    async function put(target) {
      const { entity, name } = taken, to = target ? { target: target.entity } : {};
      take(null);
      if (target && target.entity === entity) return;
      try {
        await api.ask({ do: 'relate', entity, relation, ...to });
        if (target) opened.add(target.entity);
        await showTree();
        pick(entity);
        [...holder.querySelectorAll('[role=treeitem]')].find((i) => i.dataset.entity === entity)?.focus();
      } catch (p) { moving.firstChild.textContent = `${name || entity} stays: ${p.message}`; }
    }
    // Up and down through what is open, right opens, left closes or goes up, Enter chooses.
    function treeKeys(event) {
      const item = event.target.closest('[role=treeitem]'), all = [...event.currentTarget.querySelectorAll('[role=treeitem]')], at = all.indexOf(item);
      if (!item || event.target.tagName === 'BUTTON' && event.key === 'Enter') return;
      const isOpen = item.getAttribute('aria-expanded'), to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all[all.length - 1] }[event.key];
      if (to) focus(to);
      else if (event.key === 'm' && api.writable) take(item.row);
      else if (taken && event.key === 'Enter') put(item.row);
      else if (taken && event.key === 'Escape') take(null);
      else if (event.key === 'ArrowRight' && isOpen === 'false' || event.key === 'ArrowLeft' && isOpen === 'true') item.querySelector('.twist').click();
      else if (event.key === 'ArrowRight' && all[at + 1] && item.contains(all[at + 1])) focus(all[at + 1]);
      else if (event.key === 'ArrowLeft' && item.parentNode.closest('[role=treeitem]')) focus(item.parentNode.closest('[role=treeitem]'));
      else if (event.key === 'Enter') item.querySelector('.link').click();
      else return;
      event.preventDefault();
      event.stopPropagation();
      function focus(next) { for (const one of all) one.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    }
    function branch(row) {
      const twist = el('button', { type: 'button', tabIndex: -1, class: row.sources ? 'twist' : 'twist leaf', 'aria-label': `Open ${row.name || row.entity}`, onclick: toggle }, '\u25b8');
      const item = el('li', { role: 'treeitem', tabIndex: -1, 'aria-label': row.name || row.entity }, el('div', {}, twist, Object.assign(link(row), { tabIndex: -1 }), row.sources ? el('span', { class: 'soft' }, count(row.sources)) : null));
      if (row.sources) item.setAttribute('aria-expanded', 'false');
      item.row = row;
      item.dataset.entity = row.entity;
      item.open = toggle;
      const line = item.firstChild;
      line.draggable = true;
      line.addEventListener('dragstart', (e) => { if (!api.writable) { e.preventDefault(); return; } e.dataTransfer.setData('text/plain', row.entity); e.dataTransfer.effectAllowed = 'move'; setTimeout(() => take(row)); }); // what is dragged stays where it is until then
      line.addEventListener('dragover', (e) => { if (taken && taken !== row) { e.preventDefault(); line.classList.add('target'); } });
      line.addEventListener('dragleave', () => line.classList.remove('target'));
      line.addEventListener('drop', (e) => { e.preventDefault(); line.classList.remove('target'); if (taken) put(row); });
      line.addEventListener('dragend', () => { if (taken === row) take(null); });
      let inner = null;
      async function toggle() {
        const is = item.getAttribute('aria-expanded') !== 'true';
        item.setAttribute('aria-expanded', String(is));
        opened[is ? 'add' : 'delete'](row.entity);
        twist.textContent = is ? '\u25be' : '\u25b8';
        if (!is) { inner.remove(); inner = null; return; }
        inner = el('ul', { class: 'tree', role: 'group' });
        item.append(inner);
        try { await fill(inner, row.entity, 0); } catch (p) { inner.append(el('li', {}, p.message)); }
      }
      return item;
    }

    // ---- changes of the world
    // With the components that the query asks for.
    async function create() {
      const parts = mode === 'query' ? query.split(',').map((t) => t.trim()).filter((t) => t && !/[!?|-]/.test(t)).map((t) => t.replace(/^\+/, '').trim()) : [];
      try { const made = await api.ask({ do: 'create', components: parts.join(', ') }); pick(made.entity); } catch (p) { say2.textContent = p.message; }
    }
    async function change(request, after = updateOne) {
      try { say2.textContent = ''; after(await api.ask({ entity: picked, ...request })); } catch (p) { say2.textContent = p.message; }
    }
    // What can be done to the chosen entity: made when it is opened, so that values come sooner.
    function changes(data) {
      const node = el('details', { class: 'part' }, el('summary', { onclick: fill }, 'Change it'));
      node.addEventListener('toggle', fill);
      function fill() { if (node.childElementCount === 1) node.append(tools(data)); }
      return node;
    }
    function tools(data) {
      const part = el('input', { type: 'text', class: 'grow', placeholder: 'component', list: 'types', autocomplete: 'off', spellcheck: false, 'aria-label': 'Component to add' });
      const add = el('form', { class: 'row-gap', onsubmit: (e) => { e.preventDefault(); if (part.value.trim()) change({ do: 'change', add: part.value.trim() }); } }, part, el('button', { type: 'submit' }, 'Add'));
      const named = el('input', { type: 'text', class: 'grow', value: data.name || '', placeholder: 'no name', autocomplete: 'off', 'aria-label': 'Name of the entity' });
      const rename = el('form', { class: 'row-gap', onsubmit: (e) => { e.preventDefault(); change({ do: 'rename', name: named.value.trim() }); } }, named, el('button', { type: 'submit' }, 'Rename'));
      const of = el('select', { 'aria-label': 'Relation to set' }), target = el('input', { type: 'text', class: 'grow', placeholder: 'name or 12:3; empty: none', autocomplete: 'off', spellcheck: false, 'aria-label': 'Target' });
      const relate = el('form', { class: 'row-gap', hidden: true, onsubmit: (e) => { e.preventDefault(); const to = target.value.trim(); change({ do: 'relate', relation: of.value, ...(to ? { target: to } : {}) }); } }, of, target, el('button', { type: 'submit' }, 'Relate'));
      api.ask({ do: 'relations' }).then((d) => { of.replaceChildren(...d.relations.map((r) => el('option', { value: r }, r))); relate.hidden = !d.relations.length; }).catch(() => {});
      const end = el('button', { type: 'button', onclick: () => { if (end.textContent === 'Destroy') { end.textContent = 'Destroy it for good'; setTimeout(() => { end.textContent = 'Destroy'; }, 6000); return; } change({ do: 'destroy' }, () => { picked = null; keep(true); watch(); updateOne({ error: `${data.entity} was destroyed.` }); }); } }, 'Destroy');
      return el('div', { class: 'stack' }, el('div', { class: 'row-gap' }, el('button', { type: 'button', onclick: () => change({ do: 'clone' }, (d) => pick(d.entity)) }, 'Clone'), end), add, rename, relate);
    }
    // Buttons beside a number: its curve, and a pause.
    function numberTools(data, c, f) {
      const id = { entity: data.entity, component: c.name, path: f.path };
      const ask = (e) => {
        const open = e.target.closest('.fields').querySelector('.when');
        if (open) open.remove();
        if (open && open.dataset.path === f.path) return;
        const is = el('select', { 'aria-label': 'Pause when it is' }, [['<', 'below'], ['>', 'above'], ['changed', 'another']].map(([value, text]) => el('option', { value }, text)));
        const bound = el('input', { type: 'text', class: 'few', inputMode: 'decimal', 'aria-label': 'Bound' });
        is.onchange = () => { bound.hidden = is.value === 'changed'; };
        const form = el('form', { class: 'when row-gap', onsubmit: async (event) => {
          event.preventDefault();
          const number = Number(bound.value);
          if (is.value !== 'changed' && (bound.value.trim() === '' || Number.isNaN(number))) { say2.textContent = 'a bound is a number'; return; }
          try { await api.pauseWhen({ ...id, is: is.value, ...(is.value === 'changed' ? {} : { number }) }); form.remove(); } catch (p) { say2.textContent = p.message; }
        } }, el('span', { class: 'soft' }, 'Pause when it is'), is, bound, el('button', { type: 'submit' }, 'Set'));
        form.dataset.path = f.path;
        e.target.closest('.last').after(form);
        bound.focus();
      };
      return el('span', { class: 'bits' }, el('button', { type: 'button', class: 'tiny', title: 'Draw it over time', 'aria-label': `Draw ${c.name}.${f.path} over time`, onclick: () => { pins.toggle({ ...id, unit: f.unit || '', name: data.name }); watch(); } }, '\u223f'),
        el('button', { type: 'button', class: 'tiny', title: 'Pause when \u2026', 'aria-label': `Pause when ${c.name}.${f.path} \u2026`, onclick: ask }, '\u2016'));
    }
    const writeBack = (c, f) => el('button', { type: 'button', class: 'tiny', title: 'Write it into its document', 'aria-label': `Write ${c.name}.${f.path} into its document`, onclick: () => change({ do: 'write_back', component: c.name, path: f.path }, (d) => {
      updateOne(d);
      undone.list.push({ text: `${c.name}.${f.path} in its document`, back: () => api.ask({ do: 'unwrite', entity: d.entity, edit: d.edit }) });
      undone.changed();
      say2.textContent = 'written into its document';
    }) }, '\u2913');

    // ---- one entity
    let parts = new Map(), shown = '';
    function pick(entity) {
      picked = entity;
      // the shortest way: the watch goes by the worker that pages share
      api.ask({ do: 'entity', entity }).then((d) => { if (picked === entity) updateOne(d); }).catch((p) => { if (picked === entity) updateOne({ error: p.message }); });
      keep(true);
      watch();
      if (matchMedia('(max-width: 1100px)').matches) detail.scrollIntoView({ block: 'start' });
    }
    function updateOne(data) {
      if (data.error) { detail.head.nextSibling.replaceWith(el('div', { class: 'body' }, empty(data.error))); shown = ''; return; }
      const shape = JSON.stringify([data.entity, data.name, data.writable, Boolean(data.live), data.components.map((c) => [c.name, c.fields && c.fields.map((f) => f.path)])]);
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
      const all = el('div', {}, el('div', { class: 'part' }, el('div', { class: 'row-gap' }, el('strong', {}, name), el('code', {}, data.entity)), place), boxes, el('div', { class: 'part' }, around), data.writable ? changes(data) : null, el('div', { class: 'part row-gap' }, api.link('Show it in space, and what is nearest', 'space', { entity: data.entity }), el('button', { type: 'button', class: 'link', onclick: () => api.pauseWhen({ entity: data.entity, is: 'dead' }).catch((p) => { say2.textContent = p.message; }) }, 'Pause when it dies')));
      while (detail.head.nextSibling) detail.head.nextSibling.remove();
      detail.append(all);
    }
    function component(data, c) {
      const send = async (change, raw) => { const told = await api.ask({ do: 'set', entity: data.entity, component: c.name, ...change }, raw); if (picked === data.entity) updateOne(told); return told; };
      const shown = values(c, { writable: data.writable, pick, send, entity: () => data.entity, tools: (f) => numberTools(data, c, f), back: data.live && data.writable ? (f) => writeBack(c, f) : null });
      const switchBox = c.enabled === undefined ? null : el('input', { type: 'checkbox', class: 'switch', disabled: !data.writable, 'aria-label': `${c.name} is enabled`, onchange: (e) => shown.attempt({ enabled: e.target.checked }) });
      parts.set(c.name, (now) => { if (switchBox) switchBox.checked = now.enabled; shown.update(now); });
      return el('div', { class: 'part' }, el('header', {}, switchBox, el('h3', {}, api.link(c.name, 'components', { component: c.name })),
        el('span', { class: 'soft' }, c.kind === 'data' ? `${c.bytes} B` : c.kind === 'tag' ? 'tag' : `${c.kind}, ${c.bytes} B`), data.writable ? el('button', { type: 'button', class: 'tiny', title: 'Remove this component', 'aria-label': `Remove ${c.name}`, onclick: () => change({ do: 'change', remove: c.name }) }, '\u00d7') : null), shown.node);
    }

    function watch() {
      const all = [];
      rows.picked = picked;
      rows.mark();
      if (mode !== 'tree') rows.watch((one) => all.push({ ...one, update: (d) => { if (d.error && !rows.held) { refuse(d.error); return; } arrived(); one.update(d); } }));
      if (picked) all.push({ request: { do: 'entity', entity: picked }, update: (d) => { updateOne(d); pins.take(d); } });
      for (const entity of pins.entities()) if (entity !== picked) all.push({ request: { do: 'entity', entity }, update: (d) => pins.take(d) });
      api.watch(all);
    }
    api.ask({ do: 'types' }).then((d) => types.replaceChildren(...d.types.map((t) => el('option', { value: t })))).catch(() => {});
    showMode();
    if (mode === 'tree') showTree(); else watch();
    return { find: () => input.focus(), close: () => { undone.changed = () => {}; rows.close(); pins.close(); } };
  },
};
