// start.js: the first page: questions that people have, and where each is answered, with figures of now.
import { el, panel, count, bytes, ns, percent } from '/ui.js';

export const start = {
  open(root, api) {
    const key = (k) => el('kbd', {}, k);
    const card = (title, ...rest) => {
      const now = el('p', { class: 'now' });
      const node = panel(title, el('div', { class: 'body stack' }, ...rest, now));
      node.now = now;
      return node;
    };
    const to = (text, name, state = {}) => api.link(text, name, state);
    const slow = card('What takes the time?', el('p', {}, to('Systems', 'systems'), ' has the last and the slowest frame, the share of each system, and why one waits for another. ', to('Timeline', 'timeline'), ' has the seconds before.'));
    const lost = card('Where does the memory go?', el('p', {}, to('Archetypes', 'archetypes', { sort: 'wasted' }), ' shows what is used, wasted and why; ', to('Memory', 'memory'), ' what grows.'));
    const who = card('Who writes this component?', el('p', {}, to('Components', 'components'), ' names the systems that read and write each type; from there to its entities.'));
    const which = card('Which entities, and what do they hold?', el('p', {}, to('Entities', 'entities'), ' takes a query such as Position, !Frozen, sorts and filters by values. ', to('Space', 'space'), ' draws them, and tells what is nearest.'));
    const gone = card('Who lost a component, or died?', el('p', {}, 'List them in ', to('Entities', 'entities'), ', and press Lost lately: the last 100 frames and some more. From a moment of your own: Hold, then Lost since.'));
    const grew = card('What grew slower?', el('p', {}, 'Pause, change something, go on: ', to('Systems', 'systems', { sort: 'since' }), ' compares each with the moment of the pause.'));
    root.append(el('p', { class: 'wide' }, 'Press ', key('/'), ' and type a part of any name; ', key('p'), ' pauses, ', key('s'), ' runs one step, ', key('S'), ' 100, ', key('f'), ' goes to the field of a window. Every view has its own URL.'),
      el('div', { class: 'cards' }, slow, lost, who, which, gone, grew));
    const may = el('p', { class: 'note' });
    root.append(may);
    api.onStatus((s) => {
      may.textContent = s.writable ? 'This page may change values, switch systems, make and destroy entities.' : 'This page only reads. To change the world by it: is_writable, --inspect=write or WEFT_INSPECT=write.';
    });
    api.watch([
      { request: { do: 'systems' }, update: (d) => {
        const on = d.systems.filter((s) => s.enabled), all = on.reduce((s, r) => s + r.average, 0), top = [...on].sort((a, b) => b.average - a.average).slice(0, 3).filter((s) => s.average > 0);
        slow.now.replaceChildren(`A frame takes ${ns(d.average)}. `, ...top.flatMap((s) => [api.link(s.name, 'systems', { system: s.name }), el('span', { class: 'nowrap' }, ` ${percent(s.average, all)}`), '  ']));
      } },
      { request: { do: 'archetypes', sort: 'wasted', count: 1 }, update: (d) => {
        const worst = d.rows[0];
        lost.now.replaceChildren(`${bytes(d.sum.bytes)}, of it ${bytes(d.sum.wasted)} unused. `, ...(worst ? ['Most in ', api.link(worst.components.join(', ') || 'no component', 'archetypes', { archetype: worst.id, sort: 'wasted' }), `: ${bytes(worst.wasted)}.`] : []), d.advice.length ? ` ${count(d.advice.length)} advice.` : '');
      } },
    ]);
    return {};
  },
};
