// net.js: requests and the stream of events. The token is the part behind # of the URL, so that it
// never leaves the page but in a header.
const hash = location.hash.slice(1).split('/');
export const token = hash[0];

export class Refused extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

// Asks once; the answer as an object. Throws Refused.
export async function ask(request) {
  const answer = await fetch('/api', {
    method: 'POST', cache: 'no-store',
    headers: { 'Content-Type': 'application/json', 'X-Weft-Token': token },
    body: JSON.stringify(request),
  });
  const text = await answer.text();
  let data = {};
  try { data = JSON.parse(text); } catch { data = { error: 'the answer is no JSON' }; }
  if (!answer.ok) throw new Refused(answer.status, data.error || `status ${answer.status}`);
  return data;
}

// One stream for all windows. `watch(list)` says what is watched: [{request, update(data)}].
export class Stream {
  constructor(onState) {
    this.onState = onState; // 'live', 'lost', 'denied'
    this.list = [];
    this.number = 0;
    this.run();
  }

  async run() {
    for (;;) {
      try {
        await this.read();
      } catch (problem) {
        if (problem.status === 401) { this.onState('denied'); return; }
      }
      this.number = 0;
      this.onState('lost');
      await new Promise((done) => setTimeout(done, 700));
    }
  }

  async read() {
    const answer = await fetch('/events', { cache: 'no-store', headers: { 'X-Weft-Token': token } });
    if (!answer.ok) throw new Refused(answer.status, '');
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        this.take(text.slice(0, end));
      }
    }
  }

  take(block) {
    if (block.startsWith(':')) { this.onState('live'); return; }
    const line = block.indexOf('\n'), name = block.slice(7, line);
    const data = JSON.parse(block.slice(line + 7));
    if (name === 'open') {
      this.number = data.stream;
      this.onState('live');
      this.send();
      return;
    }
    const watched = this.sent && this.sent[Number(name)];
    if (watched && this.list.includes(watched)) watched.update(data);
  }

  watch(list) {
    this.list = list;
    this.send();
  }

  async send() {
    if (this.number === 0) return;
    const list = this.list;
    try {
      this.sent = list;
      await ask({ do: 'watch', stream: this.number, what: list.map((one) => one.request) });
    } catch (problem) {
      for (const one of list) if (one.refused) one.refused(problem);
    }
  }
}
