// main.js: the frame: which window is open, the head, pause, step, speed, keys.
import { ask, connect, token } from '/net.js';
import { el, setText, count, short, empty } from '/ui.js';
import { finder } from '/find.js';
import { windows, load } from '/windows.js';

const PROTOCOL = 1; // session.h

const names = Object.keys(windows), numbered = names.filter((name) => name !== 'start'); // digits open the first ten of these
const $ = (id) => document.getElementById(id);
const listeners = new Set(); // of the open window: each status
const kept = {}; // the state of each window, while another one is open
let place = { name: '', state: {} };
let open = null, stream = null, status = {}, watched = [], find = () => {};

const api = {
  ask,
  // What the window shows goes into the URL: query, mode, choice, sort. A choice is a step that Back takes
  // back; how it is sorted is none.
  keep(changes, isStep = false) {
    Object.assign(place.state, changes);
    kept[place.name] = place.state;
    const hash = hashOf(place.name, place.state);
    if (hash !== location.hash) history[isStep ? 'pushState' : 'replaceState'](null, '', hash);
  },
  // To something in a window: an entity, a system, an archetype, a query.
  link(text, name, state) { return el('a', { class: 'link', href: hashOf(name, state) }, text); },
  // The window says what it watches; the head is watched always. A page that is not seen asks nothing.
  watch(list) {
    watched = list;
    stream.watch(document.hidden ? [] : [{ request: { do: 'status' }, update: showStatus }, ...list]);
  },
  onStatus(listen) { listeners.add(listen); },
  // Pauses the program when it comes to this: {entity, component, path, is, number}.
  async pauseWhen(what) { await ask({ do: 'pause_when', ...what }); await act({ do: 'status' }); },
  go: (name, state) => show(name, state),
  get status() { return status; },
  get writable() { return status.writable === true; },
};

// "#token/entities?query=Position&entity=5%3A1"
function hashOf(name, state) {
  const said = new URLSearchParams(Object.entries(state).filter(([, v]) => v !== '' && v !== null && v !== undefined)).toString();
  return `#${token}/${name}${said ? `?${said}` : ''}`;
}
function read() {
  const [name, said = ''] = location.hash.slice(token.length + 2).split('?');
  return [windows[name] ? name : names[0], Object.fromEntries(new URLSearchParams(said))];
}

function tabs() {
  $('tabs').replaceChildren(...names.map((name, i) => el('button', {
    type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'main', 'aria-selected': 'false',
    onclick: () => show(name),
  }, windows[name].title, i >= 1 && i <= 10 ? el('kbd', {}, String(i % 10)) : null)));
}

// Opens a window as it was left, or as `state` says; `how`: 'pushState' for a step of its own.
function show(name, state = kept[name] || {}, how = 'pushState') {
  if (open && open.close) open.close();
  listeners.clear();
  api.watch([]); // what the old window watched is nothing to the new one
  for (const other of names) {
    const tab = $(`tab-${other}`);
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
  }
  $(`tab-${name}`).scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const root = el('div', { class: 'window' });
  $('main').setAttribute('aria-labelledby', `tab-${name}`);
  $('main').replaceChildren(root);
  $('main').scrollTop = 0;
  place = { name, state: { ...state } };
  kept[name] = place.state;
  const hash = hashOf(name, state);
  if (hash !== location.hash) history[how](null, '', hash);
  document.title = `${windows[name].title} \u2013 weft`;
  const mine = open = {};
  const begin = () => { if (open === mine) Object.assign(open, windows[name].open(root, api, place.state)); };
  if (windows[name].open) begin();
  else load(name).then(begin, () => { if (open === mine) root.replaceChildren(empty('This window did not come: reload the page.')); });
}

function showStatus(now) {
  if (now.paused && status.paused === false) import(windows.systems.module).then((m) => m.markPause(ask, now.frame)).catch(() => {});
  status = now;
  const pairs = [['Frame', count(now.frame)], ['Time', `${now.time.toFixed(1)} s`], ['Pace', `${short(now.pace)}/s`],
    ['Entities', count(now.entities)], ['Systems', count(now.systems)], ['Workers', count(now.workers)]];
  const list = $('figures');
  if (!list.children.length) list.replaceChildren(...pairs.map(([n]) => el('div', {}, el('dt', {}, n), el('dd'))));
  pairs.forEach(([, v], i) => setText(list.children[i].children[1], v));
  setText($('program'), now.program);
  showWorlds(now.worlds);
  $('other').hidden = now.protocol === PROTOCOL;
  $('pause').setAttribute('aria-pressed', String(now.paused));
  setText($('pause'), now.paused ? 'Go on' : 'Pause');
  if (document.activeElement !== $('speed')) $('speed').value = String(now.speed);
  setState(now.paused ? 'held' : 'live', now.paused ? 'paused' : 'running');
  const told = now.reached ? `Paused in frame ${count(now.reached_frame)}: ${now.reached}.` : now.condition ? `Pauses when ${now.condition}.` : '';
  $('until').hidden = !told;
  setText($('until').firstChild, told);
  for (const listen of listeners) listen(now);
}

// The inspected worlds of the program that this key opens, once there are two: each has its own page.
function showWorlds(worlds) {
  const told = JSON.stringify(worlds);
  if ($('worlds').dataset.told === told) return;
  $('worlds').dataset.told = told;
  $('worlds').hidden = worlds.length < 2;
  $('world').replaceChildren(...worlds.map((w) => el('option', { value: w.port, selected: String(w.port) === location.port }, `${w.name} :${w.port}`)));
}
function goToWorld() { location.assign(`http://${location.hostname}:${$('world').value}/${hashOf(place.name, {})}`); }

// What the page is told of the stream. Figures that nothing renews are dimmed.
function showStream(kind, text) {
  if (kind === 'denied') denied();
  else if (kind === 'open') setState('held', 'waiting for a step');
  else setState(kind === 'lost' ? 'lost' : 'held', text);
}

function setState(kind, text) {
  document.body.classList.toggle('stale', kind === 'lost' || (kind === 'held' && text !== 'paused'));
  if ($('state').className !== `state ${kind}`) $('state').className = `state ${kind}`;
  $('still').hidden = !text.startsWith('no step');
  setText($('state'), text);
}

async function act(request) {
  try {
    const now = await ask(request);
    if (!(now.frame < status.frame)) showStatus(now); // else a later event came first
  } catch (problem) { setState('lost', problem.message); }
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const digit = event.key === '0' ? 10 : Number(event.key);
  if (digit >= 1 && digit <= 10) show(numbered[digit - 1]);
  else if (event.key === 'p') act({ do: 'pause', paused: !status.paused });
  else if (event.key === 's' || event.key === 'S') act({ do: 'step', count: event.shiftKey ? 100 : 1 });
  else if (event.key === '/') { find(); event.preventDefault(); }
  else if (event.key === 'f' && open.find) { open.find(); event.preventDefault(); }
}

function tabKeys(event) {
  const at = names.findIndex((name) => document.activeElement === $(`tab-${name}`));
  const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (at < 0 || !move) return;
  const next = names[(at + move + names.length) % names.length];
  show(next);
  $(`tab-${next}`).focus();
  event.preventDefault();
}

function theme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('weft-theme', document.documentElement.dataset.theme); } catch { /* private mode */ }
  window.dispatchEvent(new Event('resize'));
}

function begin() {
  try { const kept = localStorage.getItem('weft-theme'); if (kept) document.documentElement.dataset.theme = kept; } catch { /* none */ }
  tabs();
  $('theme').onclick = theme;
  $('pause').onclick = () => act({ do: 'pause', paused: !status.paused });
  $('step').onclick = (event) => act({ do: 'step', count: event.shiftKey ? 100 : 1 });
  $('speed').onchange = () => act({ do: 'speed', speed: Number($('speed').value) });
  find = finder({ windows: Object.fromEntries(names.map((n) => [n, windows[n].title])), go: show, ask });
  $('world').onchange = goToWorld;
  $('find-open').onclick = () => find();
  $('until').lastElementChild.onclick = () => api.pauseWhen({}).catch((problem) => setState('lost', problem.message));
  $('skip').onclick = (event) => { event.preventDefault(); $('main').focus(); };
  document.addEventListener('keydown', keys);
  $('tabs').addEventListener('keydown', tabKeys);
  if (token.length !== 32) { denied(); return; }
  stream = connect(showStream);
  document.addEventListener('visibilitychange', () => api.watch(watched));
  show(...read(), 'replaceState');
  setTimeout(async () => { for (const name of names) await load(name).catch(() => {}); }, 500);
  addEventListener('hashchange', () => { if (location.hash.slice(1, 33) === token) show(...read(), 'replaceState'); else location.reload(); });
}

function denied() {
  setState('lost', 'no key');
  $('main').replaceChildren(empty('This page needs its key.',
    'Open the whole URL that the program printed, with what stands behind the # sign.'));
}

begin();
