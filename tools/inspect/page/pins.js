// pins.js: numbers of entities over time, while the window is open.
import { el, panel } from '/ui.js';
import { curves } from '/chart.js';

const SECONDS = 60, MOST = 4;

export class Pins {
  constructor() {
    this.list = []; // {entity, component, path, unit, points: [[s, value]], chart, line}
    this.begun = performance.now();
    this.body = el('div', { class: 'body stack' });
    this.node = panel('Over time', this.body);
    this.node.hidden = true;
    this.timer = setInterval(() => this.draw(), 500);
  }

  close() { clearInterval(this.timer); }
  entities() { return [...new Set(this.list.map((p) => p.entity))]; }

  // Adds a number, or takes it away; the oldest goes when there are too many.
  toggle(pin) {
    const at = this.list.findIndex((p) => p.entity === pin.entity && p.component === pin.component && p.path === pin.path);
    if (at >= 0) { this.drop(this.list[at]); return; }
    if (this.list.length === MOST) this.drop(this.list[0]);
    const made = { ...pin, points: [], chart: el('div') };
    const text = `${pin.name || pin.entity} ${pin.component}.${pin.path}${pin.unit ? `, ${pin.unit}` : ''}`;
    made.line = el('div', {}, el('div', { class: 'row-gap' }, el('strong', { class: 'grow' }, text), el('button', { type: 'button', class: 'tiny', 'aria-label': `Take ${text} away`, onclick: () => this.drop(made) }, '\u00d7')), made.chart);
    this.list.push(made);
    this.body.append(made.line);
    this.node.hidden = false;
  }

  drop(pin) {
    this.list = this.list.filter((p) => p !== pin);
    pin.line.remove();
    this.node.hidden = !this.list.length;
  }

  // An answer about an entity.
  take(data) {
    const now = (performance.now() - this.begun) / 1000;
    for (const pin of this.list) {
      if (pin.entity !== data.entity) continue;
      const part = (data.components || []).find((c) => c.name === pin.component), field = part && (part.fields || []).find((f) => f.path === pin.path);
      if (!field) continue;
      pin.points.push([now, Number(JSON.parse(field.value))]);
      while (pin.points.length > 1 && now - pin.points[0][0] > SECONDS) pin.points.shift();
    }
  }

  // What does not change is not sent again: the curve goes on with the last value.
  draw() {
    const now = (performance.now() - this.begun) / 1000;
    for (const pin of this.list) {
      if (!pin.points.length) continue;
      const points = [...pin.points, [now, pin.points[pin.points.length - 1][1]]], low = Math.min(...points.map((p) => p[1]), 0);
      curves(pin.chart, [{ name: pin.path, points: points.map(([x, y]) => [x, y - low]) }], { height: 110, format: (v) => String(Number((v + low).toPrecision(5))), formatX: (x) => (x === 0 ? 'now' : `${Math.round(x)} s`), label: `${pin.component}.${pin.path} over time` });
    }
  }
}
