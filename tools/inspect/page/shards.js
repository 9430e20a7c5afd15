// shards.js: the ranks of a sharded world beside each other, and sums over them.
import { el, Table, panel, figures, updateFigures, count, bytes, ns, short, percent, meter, empty, sorted } from '/ui.js';

const size = (v) => bytes(Math.round(v));
// In the order of the columns: what decides the speed of a tick is to the left.
const shown = {
  entities: ['Entities', count], time: ['Time', ns], work: ['Work', ns], wait: ['Wait', ns], sync: ['Sync', ns],
  sent: ['Sent', size], received: ['Received', size], sectors: ['Sectors', count], ghosts: ['Ghosts', count],
  left: ['Rows left', short], arrived: ['Rows arrived', short], moved: ['Rows moved', short], border: ['Border rows', count], stubs: ['Stubs', count],
};

export const shards = {
  open(root, api) {
    let sort = 'rank', descending = false, last = null;
    const holder = el('div'), facts = figures([]);
    const table = new Table([
      { title: 'Rank', number: true, sort: 'rank', text: (r) => String(r.rank) },
      { title: 'Host', sort: 'host', text: (r) => r.host },
      { title: 'Work / largest', draw: (r) => meter(r.share, `${percent(r.share, 1)} of the rank with most work`), state: (r) => r.share.toFixed(2) },
      ...Object.entries(shown).map(([name, [title, text]]) => ({ title, number: true, sort: name, text: (r) => text(r[name]) })),
    ], { key: (r) => r.rank, sort, label: 'Ranks', onSort: (s, d) => { sort = s; descending = d; if (last) update(last); } });
    const sums = new Table([
      { title: 'Figure', class: 'name', text: (r) => shown[r.figure][0] + (r.per_tick ? ', each tick' : '') },
      { title: 'Sum', number: true, text: (r) => shown[r.figure][1](r.sum) },
      { title: 'Mean', number: true, text: (r) => shown[r.figure][1](Math.round(r.sum / last.shards.ranks)) },
      { title: 'Largest', number: true, text: (r) => shown[r.figure][1](r.largest) },
      { title: 'of rank', number: true, text: (r) => (r.sum > 0 ? String(r.rank) : '\u2013') },
      { title: 'Largest / mean', number: true, text: (r) => (r.imbalance ? r.imbalance.toFixed(2) : '\u2013') },
    ], { key: (r) => r.figure, label: 'Over all ranks' });
    table.descending = false;
    table.showSort();
    const run = panel('The run', el('div', { class: 'body' }, facts)), ranks = panel('Ranks', table.node), over = panel('Over all ranks', sums.node);
    root.append(holder, run, ranks, over);

    function update(data) {
      last = data;
      run.hidden = ranks.hidden = over.hidden = !data.there;
      holder.hidden = data.there;
      if (!data.there) {
        if (!holder.childElementCount) holder.append(panel('Shards', el('div', { class: 'body' }, empty('This world is not sharded.', 'A world with weft_shard_create shows its ranks here.'))));
        return;
      }
      const s = data.shards, work = s.over_ranks.find((o) => o.figure === 'work'), sent = s.over_ranks.find((o) => o.figure === 'sent');
      updateFigures(facts, [['Ranks', count(s.ranks)], ['This rank', String(s.rank)], ['Sectors', count(s.sectors)], ['Tick', s.rows.length ? count(s.tick) : '\u2013'], ['Ticks measured', count(s.steps)],
        ['Sent each tick', sent ? size(sent.sum) : '\u2013'], ['Work, largest / mean', work && work.imbalance ? work.imbalance.toFixed(2) : '\u2013']]);
      for (const r of s.rows) r.share = work && work.largest > 0 ? r.work / work.largest : 0;
      table.update(sorted(s.rows, sort, descending), 'The ranks tell their figures at the end of the next step.');
      sums.update(s.over_ranks, 'Nothing yet.');
    }
    api.watch([{ request: { do: 'shards' }, update }]);
    return {};
  },
};
