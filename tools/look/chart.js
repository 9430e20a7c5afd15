// chart.js: small SVG charts in the colours of look.css: curves over time, stacked areas, bars.
const SVG = 'http://www.w3.org/2000/svg';

function node(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Round numbers from 0 to at least `most`, about `count` of them.
export function ticks(most, count, base = 10) {
  if (!(most > 0)) return [0, 1];
  const raw = most / count, power = Math.pow(base, Math.floor(Math.log(raw) / Math.log(base)));
  const steps = base === 2 ? [1, 2] : [1, 2, 2.5, 5, 10];
  const step = power * (steps.find((s) => s * power >= raw) || base);
  const list = [];
  for (let at = 0; at < most + step * 0.999; at += step) list.push(at);
  return list;
}

// Draws into `host` (emptied): series = [{name, points: [[x, y], ...]}], all with the same x;
// options: height, format(y), formatX(x), stacked, base (2 for bytes), label.
export function curves(host, series, options) {
  const width = Math.max(host.clientWidth, 240), height = options.height || 180;
  const left = 64, right = 8, top = 8, bottom = 22;
  const svg = node('svg', { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`,
    role: 'img', 'aria-label': options.label || '' });
  const xs = series.length ? series[0].points.map((p) => p[0]) : [];
  const sums = xs.map((_, i) => series.reduce((s, one) => s + one.points[i][1], 0));
  const most = options.stacked ? Math.max(0, ...sums)
    : Math.max(0, ...series.flatMap((s) => s.points.map((p) => p[1])));
  const marks = ticks(most, 4, options.base), high = marks[marks.length - 1] || 1;
  const low = xs.length ? xs[0] : 0, span = xs.length > 1 ? xs[xs.length - 1] - low : 1;
  const px = (x) => left + (x - low) / span * (width - left - right);
  const py = (y) => height - bottom - y / high * (height - top - bottom);
  for (const mark of marks) {
    svg.append(node('line', { class: mark === 0 ? 'axis' : 'grid', x1: left, x2: width - right, y1: py(mark), y2: py(mark) }));
    svg.append(node('text', { x: left - 8, y: py(mark) + 4, 'text-anchor': 'end' }, options.format(mark)));
  }
  if (options.formatX && xs.length > 1) {
    svg.append(node('text', { x: left, y: height - 6 }, options.formatX(low - xs[xs.length - 1])));
    svg.append(node('text', { x: width - right, y: height - 6, 'text-anchor': 'end' }, options.formatX(0)));
  }
  const base = xs.map(() => 0);
  series.forEach((one, index) => {
    const tone = `s${index % 8 + 1}`;
    const at = one.points.map((p, i) => [px(p[0]), py((options.stacked ? base[i] : 0) + p[1])]);
    const line = at.map((p) => `${p[0].toFixed(1)},${p[1].toFixed(1)}`).join(' ');
    if (options.stacked) {
      const under = xs.map((x, i) => `${px(x).toFixed(1)},${py(base[i]).toFixed(1)}`).reverse().join(' ');
      svg.append(node('polygon', { class: `area ${tone}`, points: `${line} ${under}` }));
      one.points.forEach((p, i) => { base[i] += p[1]; });
    }
    svg.append(node('polyline', { class: `curve ${tone}`, points: line }));
  });
  host.replaceChildren(svg);
}

// Bars side by side: values with labels below.
export function bars(host, values, options) {
  const width = Math.max(host.clientWidth, 200), height = options.height || 120;
  const bottom = 20, top = 16, most = Math.max(1, ...values.map((v) => v.value));
  const svg = node('svg', { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`,
    role: 'img', 'aria-label': options.label || '' });
  const slot = width / values.length;
  svg.append(node('line', { class: 'axis', x1: 0, x2: width, y1: height - bottom, y2: height - bottom }));
  values.forEach((v, i) => {
    const tall = v.value / most * (height - bottom - top), x = i * slot;
    if (v.value > 0) {
      svg.append(node('rect', { class: 'bar s2', x: x + slot * 0.12, width: slot * 0.76,
        y: height - bottom - Math.max(tall, 1), height: Math.max(tall, 1) }));
      svg.append(node('text', { x: x + slot / 2, y: height - bottom - tall - 4, 'text-anchor': 'middle' }, options.format(v.value)));
    }
    svg.append(node('text', { x: x + slot / 2, y: height - 5, 'text-anchor': 'middle' }, v.label));
  });
  host.replaceChildren(svg);
}

export function key(host, names) {
  host.replaceChildren(...names.map((name, i) => {
    const item = document.createElement('li'), swatch = document.createElement('i');
    swatch.className = `s${i % 8 + 1}`;
    item.append(swatch, document.createTextNode(name));
    return item;
  }));
}
