// windows.js: the windows and their modules. It waits for no other file, so that the window that the URL
// names is asked for while the frame still comes; the others come when they are opened, or when there is time.
export const windows = {
  start: { title: 'Start', module: '/start.js' },
  archetypes: { title: 'Archetypes', module: '/archetypes.js', uses: ['/chart.js'] },
  entities: { title: 'Entities', module: '/entities.js', uses: ['/list.js', '/fields.js', '/pins.js', '/chart.js'] },
  components: { title: 'Components', module: '/components.js', uses: ['/fields.js'] },
  systems: { title: 'Systems', module: '/systems.js', uses: ['/chart.js', '/lanes.js'] },
  queries: { title: 'Queries', module: '/systems.js', uses: ['/chart.js', '/lanes.js'] },
  timeline: { title: 'Timeline', module: '/timeline.js', uses: ['/chart.js', '/lanes.js'] },
  memory: { title: 'Memory', module: '/world.js', uses: ['/chart.js'] },
  scenes: { title: 'Scenes', module: '/world.js', uses: ['/chart.js'] },
  jobs: { title: 'Jobs', module: '/timeline.js', uses: ['/chart.js', '/lanes.js'] },
  shards: { title: 'Shards', module: '/shards.js' },
  space: { title: 'Space', module: '/space.js' },
  groups: { title: 'Groups', module: '/groups.js' },
  observers: { title: 'Observers', module: '/program.js' },
  program: { title: 'Program', module: '/program.js' },
};

// What a module imports is asked for with it, not once it has come.
export async function load(name) {
  for (const path of windows[name].uses || []) import(path).catch(() => {});
  windows[name].open = (await import(windows[name].module))[name].open;
}

const named = location.hash.split(/[/?]/)[1];
load(windows[named] ? named : 'start').catch(() => {}); // who opens it says so
