// space.js: the rows of a query as points: flat or in three dimensions, coloured by a number. A click
// chooses; what is nearest to the chosen one.
import { el, panel, count, setText, empty } from '/ui.js';

const NEAR = 9; // pixels around the pointer

export const space = {
  open(root, api, state) {
    let places = [], numbers = [], data = null, picked = state.entity || null, at = [], latest = null;
    let turn = { yaw: Number(state.yaw) || 0.6, pitch: Number(state.pitch) || 0.5, zoom: Number(state.zoom) || 1, x: 0, y: 0 }, flat = state.view === 'flat', box = null, grabbed = null;
    const query = el('input', { type: 'text', id: 'query', placeholder: 'every entity with a position', value: state.query || '', autocomplete: 'off', spellcheck: false, 'aria-label': 'Query' });
    const place = el('select', { 'aria-label': 'Position', onchange: () => run(true) }), colour = el('select', { 'aria-label': 'Colour by', onchange: () => run(true) });
    const form = el('form', { class: 'query body', onsubmit: (e) => { e.preventDefault(); run(true); } }, query, el('label', { class: 'speed' }, el('span', { class: 'soft' }, 'Position'), place), el('label', { class: 'speed' }, el('span', { class: 'soft' }, 'Colour'), colour), el('button', { type: 'submit', class: 'primary' }, 'Show'));
    const canvas = el('canvas', { tabIndex: 0, role: 'img', 'aria-label': 'Points: arrow keys turn or move, + and - zoom, 0 shows all' });
    const tip = el('div', { class: 'tip', hidden: true }), lanes = el('div', { class: 'lanes' }, canvas, tip);
    const say = el('span', { class: 'soft grow' }), problem = el('p', { class: 'note bad', role: 'alert', hidden: true });
    const views = el('div', { class: 'modes', role: 'group', 'aria-label': 'View' }, [['turn', '3-D'], ['flat', 'Flat']].map(([id, text]) =>
      el('button', { type: 'button', 'aria-pressed': String((id === 'flat') === flat), onclick: (e) => { flat = id === 'flat'; for (const b of views.children) b.setAttribute('aria-pressed', String(b === e.target)); keep(false); draw(); } }, text)));
    const all = el('button', { type: 'button', onclick: () => { box = null; turn.zoom = 1; turn.x = turn.y = 0; keep(false); draw(); } }, 'Show all');
    const made = panel('Space', form, problem, lanes, el('footer', {}, say, all));
    made.head.append(views);
    const chosen = el('div', { class: 'body' }, empty('Choose a point.'));
    root.append(el('div', { class: 'split' }, made, panel('The chosen one', chosen)));

    const keep = (isStep) => api.keep({ query: query.value.trim(), place: place.value, colour: colour.value, view: flat ? 'flat' : '', entity: picked, yaw: turn.yaw.toFixed(3), pitch: turn.pitch.toFixed(3), zoom: turn.zoom.toFixed(3) }, isStep);
    const asked = () => {
      const p = places[place.selectedIndex], n = numbers[colour.selectedIndex - 1] || { component: '', path: '' };
      return { query: query.value.trim(), component: p.component, x: p.x, y: p.y, z: p.z, value_of: n.component, value: n.path };
    };
    function run(isStep) {
      if (!places.length) return;
      keep(isStep);
      box = null;
      look();
      if (picked) choose(picked);
    }
    // What is chosen is drawn whatever the even draw leaves out.
    function look() {
      api.watch([{ request: { do: 'points', ...asked(), ...(picked ? { entity: picked } : {}), count: 5000 }, update, refused: (p) => { problem.textContent = p.message; problem.hidden = false; } }]);
    }
    function take(entity) { picked = entity; keep(true); look(); choose(entity); draw(); }

    function update(now) {
      if (now.error) { problem.textContent = now.error; problem.hidden = false; return; }
      problem.hidden = true;
      data = now;
      setText(say, now.entities.length < now.total ? `${count(now.entities.length)} of ${count(now.total)} rows, evenly drawn` : `${count(now.total)} rows`);
      draw();
    }

    // What all points lie in; the middle is the median, so that one that flew off does not hide the rest.
    function bounds() {
      const axis = (v) => { const s = (v || []).filter((n) => n !== null).sort((a, b) => a - b); return s.length ? [s[Math.floor(s.length / 2)], s[Math.floor(s.length * 0.01)], s[Math.ceil(s.length * 0.99) - 1]] : [0, 0, 0]; };
      const axes = [axis(data.x), axis(data.y), axis(data.z)];
      return { middle: axes.map((a) => (a[1] + a[2]) / 2), reach: Math.max(...axes.map((a) => a[2] - a[1])) / 2 || 1 };
    }
    function project(i, width, height) {
      const scale = Math.min(width, height) * 0.42 * turn.zoom / box.reach;
      const x = data.x[i] - box.middle[0], y = data.y[i] - box.middle[1], z = flat || !data.z ? 0 : data.z[i] - box.middle[2];
      if (flat || !data.z) return [width / 2 + turn.x + x * scale, height / 2 + turn.y - y * scale, 0];
      const c = Math.cos(turn.yaw), s = Math.sin(turn.yaw), u = x * c - y * s, v = x * s + y * c;
      const p = Math.cos(turn.pitch), q = Math.sin(turn.pitch);
      return [width / 2 + turn.x + u * scale, height / 2 + turn.y - (v * q + z * p) * scale, v * p - z * q];
    }
    function draw() {
      if (!data || !lanes.isConnected) return;
      box ||= bounds();
      const width = Math.max(lanes.clientWidth, 240), height = Math.max(260, Math.min(560, window.innerHeight - 330)), scale = window.devicePixelRatio || 1;
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.style.height = `${height}px`;
      const g = canvas.getContext('2d'), style = getComputedStyle(canvas), tone = (name) => style.getPropertyValue(name).trim();
      g.scale(scale, scale);
      const values = (data.value || []).filter((v) => v !== null), low = Math.min(...values), high = Math.max(...values);
      at = data.entities.map((_, i) => (data.x[i] === null || data.y[i] === null ? null : project(i, width, height)));
      const order = at.map((_, i) => i).filter((i) => at[i]).sort((a, b) => at[b][2] - at[a][2]);
      for (const i of order) {
        const share = data.value && data.value[i] !== null && high > low ? (data.value[i] - low) / (high - low) : null;
        g.fillStyle = share === null ? tone('--s2') : `hsl(${Math.round(240 - 240 * share)} 75% 50%)`;
        g.fillRect(at[i][0] - 1.5, at[i][1] - 1.5, 3, 3);
      }
      const one = data.entities.indexOf(picked);
      if (one >= 0 && at[one]) {
        g.strokeStyle = tone('--ink');
        g.lineWidth = 2;
        g.beginPath();
        g.arc(at[one][0], at[one][1], 7, 0, 7);
        g.stroke();
      }
      g.fillStyle = tone('--soft');
      g.font = `11px ${tone('--text') || 'sans-serif'}`;
      if (values.length) g.fillText(`blue ${low.toPrecision(4)}, red ${high.toPrecision(4)}`, 10, height - 10);
      g.fillText(`${Number((box.reach * 2 / turn.zoom).toPrecision(3))}${data.unit ? ` ${data.unit}` : ''} across`, 10, 16);
    }

    function under(event) {
      let best = -1, least = NEAR * NEAR;
      at.forEach((p, i) => {
        const d = p ? (p[0] - event.offsetX) ** 2 + (p[1] - event.offsetY) ** 2 : Infinity;
        if (d < least) { least = d; best = i; }
      });
      return best;
    }
    canvas.addEventListener('pointerdown', (e) => { grabbed = { x: e.offsetX, y: e.offsetY, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener('pointermove', (e) => {
      if (grabbed) {
        const dx = e.offsetX - grabbed.x, dy = e.offsetY - grabbed.y;
        grabbed.moved ||= Math.abs(dx) + Math.abs(dy) > 3;
        if (!grabbed.moved) return;
        move(dx, dy, e.shiftKey);
        Object.assign(grabbed, { x: e.offsetX, y: e.offsetY });
        return;
      }
      const i = data ? under(e) : -1;
      tip.hidden = i < 0;
      if (i < 0) return;
      tip.textContent = `${data.entities[i]}${data.value && data.value[i] !== null ? `, ${data.value[i]}` : ''}`;
      tip.style.left = `${e.offsetX + 12}px`;
      tip.style.top = `${e.offsetY + 12}px`;
    });
    canvas.addEventListener('pointerup', (e) => {
      const was = grabbed;
      grabbed = null;
      if (was && was.moved) { keep(false); return; }
      const i = data ? under(e) : -1;
      if (i >= 0) take(data.entities[i]);
    });
    canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
    canvas.addEventListener('wheel', (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY * 0.0015)); }, { passive: false });
    canvas.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: [-24, 0], ArrowRight: [24, 0], ArrowUp: [0, -24], ArrowDown: [0, 24] }[e.key];
      if (step) move(step[0], step[1], e.shiftKey);
      else if (e.key === '+' || e.key === '=') zoom(1.4);
      else if (e.key === '-') zoom(1 / 1.4);
      else if (e.key === '0') all.click();
      else return;
      keep(false);
      e.preventDefault();
      e.stopPropagation();
    });
    function move(dx, dy, shifts) {
      if (flat || shifts || !data || !data.z) { turn.x += dx; turn.y += dy; } else { turn.yaw += dx * 0.01; turn.pitch = Math.max(-1.57, Math.min(1.57, turn.pitch + dy * 0.01)); }
      draw();
    }
    function zoom(by) { turn.zoom = Math.max(0.05, Math.min(1e6, turn.zoom * by)); turn.x *= by; turn.y *= by; draw(); keep(false); }

    async function choose(entity) {
      const asks = latest = {};
            try {
        const { rows, name, unit } = await api.ask({ do: 'nearest', entity, ...asked() });
        if (asks !== latest) return;
        const facts = el('div', {}, el('p', {}, api.link(name ? `${name} (${entity})` : `Entity ${entity}`, 'entities', { entity, query: query.value.trim() })), el('h3', {}, 'Nearest to it'));
        facts.append(rows.length ? el('ul', { class: 'plain' }, rows.map((r) => el('li', { class: 'row-gap' }, el('button', { type: 'button', class: 'link', onclick: () => take(r.entity) }, r.name || r.entity), el('span', { class: 'soft' }, r.distance === null ? '' : `${r.distance}${unit ? ` ${unit}` : ''}`)))) : el('p', { class: 'soft' }, 'No other row.'));
        facts.append(el('button', { type: 'button', onclick: () => choose(entity) }, 'Measure again'));
        chosen.replaceChildren(facts);
      } catch (p) { if (asks === latest) chosen.replaceChildren(empty(p.message)); }
    }

    api.watch([]);
    api.ask({ do: 'places' }).then((told) => {
      places = told.places;
      numbers = told.numbers;
      if (!places.length) { made.replaceChildren(made.head, empty('No component looks like a position.', 'One with fields x and y, or an array of two to four numbers that is named or described as a position, does.')); return; }
      place.append(...places.map((p) => el('option', { value: `${p.component}.${p.x}` }, `${p.component}: ${[p.x, p.y, p.z].filter(Boolean).join(', ')}`)));
      colour.append(el('option', { value: '' }, 'none'), ...told.numbers.map((n) => el('option', { value: `${n.component}.${n.path}` }, `${n.component}.${n.path}`)));
      if (state.place) place.value = state.place;
      if (place.selectedIndex < 0) place.selectedIndex = 0;
      if (state.colour) colour.value = state.colour;
      if (colour.selectedIndex < 0) colour.value = '';
      run(false);
    }).catch((p) => { problem.textContent = p.message; problem.hidden = false; });
    const resize = () => draw();
    window.addEventListener('resize', resize);
    return { find: () => query.focus(), close: () => window.removeEventListener('resize', resize) };
  },
};
