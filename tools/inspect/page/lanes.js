// lanes.js: spans of workers on a canvas: drawing, zoom, a tip for what is under the pointer.
import { el, count, ns, tone } from '/ui.js';

export const NO_EVENTS = ['No events yet.', 'The pool keeps traces when it was made with trace_capacity, or with WEFT_INSPECT in the environment; a trace file (WEFT_TRACE) takes them all.'];
const KINDS = { 3: 'steal', 6: 'wait', 8: 'mark' };
const ROW = 17, GAP = 10, LEFT = 76, TOP = 22;

export class Lanes {
  // options: still (no zoom), onView(from, to): the view was moved, label
  constructor(options) {
    this.options = options;
    this.canvas = el('canvas', { hidden: true, tabIndex: options.still ? -1 : 0, role: 'img', 'aria-label': options.label });
    this.tip = el('div', { class: 'tip', hidden: true });
    this.over = el('p', { class: 'note', hidden: true });
    this.node = el('div', { class: options.still ? 'lanes still' : 'lanes' }, this.canvas, this.tip, this.over);
    this.data = null;
    this.canvas.addEventListener('pointermove', (e) => this.point(e));
    this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    this.resize = () => this.draw();
    window.addEventListener('resize', this.resize);
    if (!options.still) this.listen();
  }

  close() { window.removeEventListener('resize', this.resize); }

  listen() {
    const c = this.canvas;
    c.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.zoom(Math.exp(e.deltaY * 0.0015), this.time(e.offsetX));
    }, { passive: false });
    c.addEventListener('pointerdown', (e) => { this.grabbed = e.offsetX; c.setPointerCapture(e.pointerId); });
    c.addEventListener('pointerup', () => { this.grabbed = null; });
    c.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: -0.2, ArrowRight: 0.2 }[e.key];
      if (step) this.move(step * (this.data.to - this.data.from));
      else if (e.key === '+' || e.key === '=') this.zoom(0.6);
      else if (e.key === '-') this.zoom(1 / 0.6);
      else return;
      e.preventDefault();
    });
  }

  get width() { return Math.max(this.node.clientWidth, 240); }
  time(x) { return this.data.from + (x - LEFT) / (this.width - LEFT) * (this.data.to - this.data.from); }

  zoom(factor, at) {
    if (!this.data) return;
    const { from, to } = this.data, middle = at === undefined ? (from + to) / 2 : at;
    this.view(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  move(by) { if (this.data) this.view(this.data.from + by, this.data.to + by); }

  view(from, to) {
    if (to - from < 1000) return;
    from = Math.max(0, from);
    const d = this.data, shift = d.from - from;
    for (const lane of d.lanes) for (const s of lane.spans) { s[0] += shift; s[1] += shift; }
    d.from = from;
    d.to = to;
    this.draw();
    this.options.onView(Math.round(from), Math.round(to));
  }

  update(data) {
    const out = data.lanes.reduce((sum, lane) => sum + (lane.left_out || 0), 0);
    this.over.hidden = !out;
    this.over.textContent = `${count(out)} spans more than can be drawn are left out: zoom in to see them.`;
    this.data = data;
    this.draw();
  }

  draw() {
    const d = this.data;
    if (!d || !this.node.isConnected) return;
    const width = this.width, scale = window.devicePixelRatio || 1;
    let height = TOP;
    this.tops = d.lanes.map((lane) => {
      const depth = lane.spans.reduce((m, s) => Math.max(m, s[2]), 0), top = height;
      height += (depth + 1) * ROW + GAP;
      return top;
    });
    this.canvas.hidden = false;
    const c = this.canvas, style = getComputedStyle(c), colour = (name) => style.getPropertyValue(name).trim();
    c.width = width * scale;
    c.height = height * scale;
    c.style.height = `${height}px`;
    const g = c.getContext('2d');
    g.scale(scale, scale);
    g.font = `11px ${colour('--text') || 'sans-serif'}`;
    this.grid(g, width, height, colour);
    const span = Math.max(1, d.to - d.from), px = (t) => LEFT + t / span * (width - LEFT);
    d.lanes.forEach((lane, i) => {
      g.fillStyle = colour('--soft');
      g.fillText(`worker ${lane.worker}`, 12, this.tops[i] + 12);
      g.save();
      g.beginPath();
      g.rect(LEFT, 0, width - LEFT, height);
      g.clip();
      for (const s of lane.spans) this.span(g, d, s, this.tops[i], px, colour);
      g.restore();
    });
  }

  grid(g, width, height, colour) {
    const span = this.data.to - this.data.from, step = Math.pow(10, Math.floor(Math.log10(span / 3 || 1)));
    const wide = [1, 2, 5, 10].map((m) => m * step).find((s) => span / s <= width / 130) || step * 10;
    g.strokeStyle = colour('--line');
    g.fillStyle = colour('--soft');
    for (let t = 0; t <= span; t += wide) {
      const x = Math.round(LEFT + t / span * (width - LEFT)) + 0.5;
      g.beginPath();
      g.moveTo(x, 16);
      g.lineTo(x, height);
      g.stroke();
      g.fillText(`${t === 0 ? '' : '+'}${ns(t)}`, x + 4, 12);
    }
  }

  span(g, d, s, top, px, colour) {
    const x = px(s[0]), w = Math.max(1, px(s[1]) - x), y = top + s[2] * ROW, name = this.name(d, s);
    if (KINDS[s[5]] === 'wait') { g.fillStyle = colour('--line'); g.fillRect(x, y + 6, w, 3); return; }
    const ground = tone(name, s[3]), quiet = ground.endsWith('line');
    g.fillStyle = colour(ground);
    g.globalAlpha = s[4] > 1 ? 0.55 : 0.9;
    g.fillRect(x, y, w, ROW - 2);
    g.globalAlpha = 1;
    if (w < 34) return;
    g.fillStyle = colour(quiet ? '--ink' : '--panel');
    g.save();
    g.beginPath();
    g.rect(x, y, w - 4, ROW);
    g.clip();
    g.fillText(s[4] > 1 ? `${s[4]} \u00d7 ${name}` : name, Math.max(x, LEFT) + 5, y + 11);
    g.restore();
  }

  name(d, s) { return d.names[s[3]] || KINDS[s[5]] || 'job'; }

  point(event) {
    const d = this.data;
    if (!d || !this.tops) return;
    if (this.grabbed !== null && this.grabbed !== undefined) {
      const by = (this.grabbed - event.offsetX) / (this.width - LEFT) * (d.to - d.from);
      this.grabbed = event.offsetX;
      this.move(by);
      return;
    }
    const t = this.time(event.offsetX) - d.from, slack = (d.to - d.from) / this.width;
    const lane = this.tops.findLastIndex((top) => event.offsetY >= top);
    const depth = lane < 0 ? -1 : Math.floor((event.offsetY - this.tops[lane]) / ROW);
    const found = lane < 0 ? null : d.lanes[lane].spans.find((s) => s[2] === depth && s[0] - slack <= t && t <= s[1] + slack);
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = `${found[4] > 1 ? `${found[4]} \u00d7 ` : ''}${this.name(d, found)}, ${ns(found[1] - found[0])}`;
    this.tip.style.left = `${Math.min(event.offsetX + 12, this.width - 180)}px`;
    this.tip.style.top = `${event.offsetY + 14}px`;
  }
}
