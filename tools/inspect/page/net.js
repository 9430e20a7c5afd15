// net.js: requests and the stream of events. The token is the part behind # of the URL, so that it
// never leaves the page but in a header; the worker that pages share has it as its name.
export const token = typeof document === 'undefined' ? self.name : location.hash.slice(1).split('/')[0];

export class Refused extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

// A number is 53 bits wide here: whole numbers of values that are wider stay text.
const word = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
function exact(text) {
  return JSON.parse(text.replace(word, (w) => (/^-?\d{16,}$/.test(w) && !Number.isSafeInteger(Number(w)) ? `"${w}"` : w)));
}
const parse = (text, request) => (['entities', 'rows', 'search', 'elements', 'entity', 'set', 'component', 'set_resource'].includes(request.do) ? exact(text) : JSON.parse(text));

// Asks once; the answer as an object. `raw` are members that are JSON already: numbers as they were
// typed. Throws Refused.
export async function ask(request, raw = {}) {
  const more = Object.entries(raw).map(([name, json]) => `,${JSON.stringify(name)}:${json}`).join('');
  const answer = await fetch('/api', {
    method: 'POST', cache: 'no-store',
    headers: { 'Content-Type': 'application/json', 'X-Weft-Token': token },
    body: `${JSON.stringify(request).slice(0, -1)}${more}}`,
  });
  const text = await answer.text();
  let data = {};
  try { data = parse(text, request); } catch { data = { error: 'the answer is no JSON' }; }
  if (!answer.ok) throw new Refused(answer.status, data.error || `status ${answer.status}`);
  return data;
}

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const SILENT = 7000; // ms: the server writes something every two seconds

// The stream of events. `watch(list)` says what is watched: [{request, update(data), refused(problem)}].
// `onState(state, text)`: 'open', 'still' (the program does not step), 'lost', 'denied'.
export class Stream {
  constructor(onState) {
    this.onState = onState;
    this.list = [];
    this.serial = 0; // of the list: events of an older one are not for it
    this.number = 0; // of the stream; 0: there is none
    this.run();
  }

  async run() {
    for (;;) {
      let why = 'no answer';
      try {
        await this.read();
      } catch (problem) {
        if (problem.status === 401) { this.onState('denied', ''); return; }
        if (problem.status) why = problem.message;
      }
      this.number = 0;
      this.onState('lost', why);
      await rest(700);
    }
  }

  async read() {
    const end = new AbortController();
    let timer = 0;
    const wait = () => { clearTimeout(timer); timer = setTimeout(() => end.abort(), SILENT); };
    try {
      wait();
      const answer = await fetch('/events', { cache: 'no-store', headers: { 'X-Weft-Token': token }, signal: end.signal });
      if (!answer.ok) throw new Refused(answer.status, (await answer.json()).error);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        wait();
        const { done, value } = await reader.read();
        if (done) return;
        text += value;
        for (let at; (at = text.indexOf('\n\n')) >= 0; text = text.slice(at + 2)) this.take(text.slice(0, at));
      }
    } finally { clearTimeout(timer); }
  }

  take(block) {
    if (block.startsWith(':')) return;
    const line = block.indexOf('\n'), name = block.slice(7, line), text = block.slice(line + 7);
    if (name === 'open') {
      this.number = JSON.parse(text).stream;
      this.onState('open', '');
      this.send();
    } else if (name === 'still') {
      this.onState('still', `no step for ${JSON.parse(text).seconds} s`);
    } else {
      const [serial, index] = name.split('.').map(Number);
      const watched = serial === this.serial ? this.list[index] : undefined;
      if (watched) watched.update(parse(text, watched.request));
    }
  }

  watch(list) {
    this.list = list;
    this.serial++;
    this.send();
  }

  // Again and again while the program is busy: its answer is what makes the list count.
  async send() {
    const { serial, number, list } = this;
    while (number !== 0 && number === this.number && serial === this.serial) {
      try {
        await ask({ do: 'watch', stream: number, serial, what: list.map((one) => one.request) });
        return;
      } catch (problem) {
        const passes = !problem.status || problem.status === 503 || problem.status === 429;
        if (serial !== this.serial || number !== this.number) return; // a later list went its own way, maybe before this one
        if (!passes) {
          for (const one of list) if (one.refused) one.refused(problem);
          return;
        }
        await rest(500);
      }
    }
  }
}

// The same of all pages of one browser over one stream, so that no page takes a connection for
// itself (a browser has six). Where there are no shared workers: a stream of its own.
export function connect(onState) {
  if (typeof SharedWorker === 'undefined') return new Stream(onState);
  const worker = new SharedWorker('/worker.js', { type: 'module', name: token });
  let list = [], serial = 0, fallback = null;
  worker.onerror = () => {
    if (fallback) return;
    fallback = new Stream(onState);
    fallback.watch(list);
  };
  worker.port.onmessage = ({ data: message }) => {
    if (message.state) onState(message.state, message.text);
    else if (message.ping) worker.port.postMessage({ pong: true });
    else if (message.serial === serial && list[message.index]) {
      const one = list[message.index];
      if (message.problem === undefined) one.update(message.data);
      else if (one.refused) one.refused(new Refused(422, message.problem));
    }
  };
  let isTold = true;
  const tell = () => { isTold = true; worker.port.postMessage({ serial, list: list.map((one) => one.request) }); };
  addEventListener('pagehide', () => worker.port.postMessage({ leaves: true }));
  addEventListener('pageshow', (event) => { if (event.persisted) tell(); });
  return {
    watch(next) {
      list = next;
      serial++;
      if (fallback) { fallback.watch(list); return; }
      if (isTold) queueMicrotask(() => isTold || tell()); // a window that opens says it twice
      isTold = false;
    },
  };
}
