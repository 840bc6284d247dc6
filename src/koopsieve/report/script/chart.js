// ---- axes ----------------------------------------------------------------------------------------------------------------
function scale(low, high, from, to, log) {
  const f = log ? Math.log10 : (v) => v;
  const a = f(low), b = f(high) === a ? a + 1 : f(high);
  return (v) => from + ((f(v) - a) / (b - a)) * (to - from);
}

function linearTicks(low, high, most) {
  const raw = (high - low) / Math.max(1, most) || 1;
  const base = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= raw * 0.75);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return range(Math.max(0, last - first + 1)).map((i) => +((first + i) * step).toPrecision(12));  // a whole number times the step: zero is zero
}

function logTicks(low, high, most) {
  const a = Math.ceil(Math.log10(low) - 1e-9), b = Math.floor(Math.log10(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((b - a + 1) / Math.max(1, most)));
  return range(Math.max(0, b - a + 1)).filter((i) => i % stride === 0).map((i) => Math.pow(10, a + i));
}

function tickText(value, log) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(+value.toPrecision(6)).replace("-", "−");
  const exponent = Math.floor(Math.log10(size) + 1e-9);
  const front = +(value / Math.pow(10, exponent)).toPrecision(4);
  return (log && front === 1 ? power(exponent) : `${front}·${power(exponent)}`).replace("-", "−");
}

const DASHED = "7 4", DOTTED = "2 4";

// limits of a logarithmic axis that holds the values; what lies beyond the ceiling counts as diverged
const CEILING = 1e4;
function logLimits(values) {
  const seen = values.filter((v) => v > 0 && v < CEILING);
  if (!seen.length) return [0.1, 10];
  return [Math.pow(10, Math.floor(Math.log10(Math.min(...seen)))), Math.pow(10, Math.ceil(Math.log10(Math.max(...seen)) + 0.05))];
}

function legend(host, series) {
  const list = html("ul", { class: "key" });
  for (const one of series.filter((s) => s.name)) {
    const item = html("li"), mark = html("i", one.dotOnly ? { class: "dot" } : {});
    mark.style.borderColor = one.color;
    if (one.dash) mark.style.borderTopStyle = one.dash === DOTTED ? "dotted" : "dashed";
    if (one.dotOnly && !one.hollow) mark.style.background = one.color;
    item.append(mark, document.createTextNode(one.name));
    list.appendChild(item);
  }
  if (list.children.length) host.appendChild(list);
}

// ---- one chart -----------------------------------------------------------------------------------------------------------
// spec: series [{name, x, y, color, dash, width, dots, hollow, stepped, stems, spread, cut, front, ring}], x and y {label, log, low, high,
// ticks, text}, guides [{y, text, at}], limit (a shaded ± band), band {x, lower, upper, color}, marker, height, legend, view, say
let clips = 0;
function chart(host, build) {
  return drawn(host, () => {
    const spec = build();
    host.replaceChildren();
    if (spec.legend !== false) legend(host, spec.series);
    const beside = spec.y.label.length * 6.2 < (spec.height || 200) - 50;  // a longer name stands above, whole
    if (!beside) host.appendChild(html("p", { class: "fine above" }, spec.y.label));
    const W = Math.max(220, Math.round(host.clientWidth)), H = spec.height || Math.round(Math.max(200, Math.min(320, W * 0.5)));
    const yticks = spec.y.ticks || (spec.y.log ? logTicks : linearTicks)(spec.y.low, spec.y.high, H / 38);
    const labels = yticks.map((t) => tickText(t, spec.y.log));
    const frame = { left: 30 + 7 * Math.max(2, ...labels.map((t) => t.length)), right: W - 12, top: 10, bottom: H - 40 };
    const x = scale(spec.x.low, spec.x.high, frame.left, frame.right, spec.x.log);
    const y = scale(spec.y.low, spec.y.high, frame.bottom, frame.top, spec.y.log);
    const picture = svg(host, "svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": spec.title || spec.y.label });
    yticks.forEach((t, i) => {
      svg(picture, "line", { class: "grid", x1: frame.left, x2: frame.right, y1: y(t), y2: y(t) });
      svg(picture, "text", { x: frame.left - 7, y: y(t) + 4, "text-anchor": "end" }, labels[i]);
    });
    drawXAxis(picture, spec, x, frame, W);
    svg(picture, "path", { class: "axis", d: `M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}` });
    svg(picture, "text", { class: "name", x: (frame.left + frame.right) / 2, y: H - 5, "text-anchor": "middle" }, spec.x.label);
    if (beside) svg(picture, "text", { class: "name", transform: `translate(12 ${(frame.top + frame.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.label);
    const clip = `clip${++clips}`;
    svg(svg(picture, "clipPath", { id: clip }), "rect", { x: frame.left - 5, y: frame.top - 6, width: frame.right - frame.left + 10, height: frame.bottom - frame.top + 12 });
    const plot = svg(picture, "g", { "clip-path": `url(#${clip})`, class: "plot" });
    drawGuides(plot, spec, x, y, frame);
    let lost = 0;
    for (const one of spec.series) one.level = one.dots && [...one.y].some((v) => v >= CEILING) ? lost++ : 0;  // marks of those that diverged, one beside the other
    for (const one of spec.series.slice().sort((a, b) => (a.front ? 1 : 0) - (b.front ? 1 : 0))) drawSeries(plot, one, spec, x, y, frame);
    if (spec.marker !== undefined) svg(plot, "line", { class: "marker", x1: x(spec.marker), x2: x(spec.marker), y1: frame.top, y2: frame.bottom });
    pointAt(picture, spec, x, W);
    if (spec.view) makeZoomable(picture, spec, frame, W);
  });
}

function drawXAxis(picture, spec, x, frame, W) {
  const ticks = spec.x.ticks || (spec.x.log ? logTicks : linearTicks)(spec.x.low, spec.x.high, W / 90);
  const text = spec.x.text || ((v) => tickText(v, spec.x.log));
  let taken = -Infinity;
  for (const t of ticks.filter((v) => x(v) >= frame.left - 1 && x(v) <= frame.right + 1)) {
    svg(picture, "line", { class: "axis", x1: x(t), x2: x(t), y1: frame.bottom, y2: frame.bottom + 5 });
    const wide = 4 * text(t).length;
    if (x(t) - wide < taken + 8) continue;
    svg(picture, "text", { x: Math.min(x(t), W - wide), y: frame.bottom + 18, "text-anchor": "middle" }, text(t));
    taken = x(t) + wide;
  }
}

function drawGuides(plot, spec, x, y, frame) {
  if (spec.limit) svg(plot, "rect", { class: "limit", x: frame.left, width: frame.right - frame.left, y: y(spec.limit), height: y(-spec.limit) - y(spec.limit) });
  for (const guide of spec.guides || []) {
    if (!(guide.y > spec.y.low && guide.y < spec.y.high)) continue;
    svg(plot, "line", { class: "guide", x1: frame.left, x2: frame.right, y1: y(guide.y), y2: y(guide.y) });
    const end = guide.at === "end";
    svg(plot, "text", { x: end ? frame.right - 6 : frame.left + 6, y: y(guide.y) - 5, "text-anchor": end ? "end" : "start" }, guide.text || "");
  }
  if (!spec.band) return;
  const there = spec.band.x.map((v, i) => `${x(v)} ${y(spec.band.upper[i])}`);
  const back = spec.band.x.map((v, i) => `${x(v)} ${y(spec.band.lower[i])}`).reverse();
  svg(plot, "path", { class: "band", d: `M${there.concat(back).join("L")}z`, fill: spec.band.color });
}

// ---- one line of a chart -------------------------------------------------------------------------------------------------
function drawSeries(plot, s, spec, x, y, frame) {
  const [first, last] = visible(s.x, spec.x.low, spec.x.high);
  const gone = s.cut ? s.cut(s.y) : s.y.length;  // from here on a diverged curve is not drawn
  const stop = Math.min(last, gone);
  if (s.stems) {
    for (let i = first; i < stop; i++) svg(plot, "path", { d: `M${x(s.x[i])} ${y(0)}V${y(s.y[i])}`, stroke: s.color, "stroke-width": s.width || 3, class: "stem" });
    return;
  }
  const many = stop - first > 3 * (frame.right - frame.left);
  const d = many ? envelope(s, first, stop, x, y, frame) : polyline(s, first, stop, x, y, spec);
  svg(plot, "path", { class: "line", d, fill: "none", stroke: s.color, "stroke-width": s.width || 2, "stroke-dasharray": s.dash || "none", "stroke-linejoin": "round" });
  if (gone < s.y.length && gone >= first && gone <= last) markCut(plot, s, gone, spec, x, y, frame);
  (s.spread || []).forEach((e, i) => {
    if (!(s.y[i] > 0 && s.y[i] < CEILING && Number.isFinite(e))) return;
    svg(plot, "path", { d: `M${x(s.x[i])} ${y(Math.max(s.y[i] - e, s.y[i] * 0.1))}V${y(s.y[i] + e)}`, stroke: s.color, "stroke-opacity": 0.55 });
  });
  if (s.dots) drawDots(plot, s, spec, x, y, frame);
}

function visible(xs, low, high) {
  if (xs.length < 200) return [0, xs.length];
  let first = 0, last = xs.length;
  while (first < xs.length - 1 && xs[first + 1] < low) first++;
  while (last > first + 1 && xs[last - 2] > high) last--;
  return [first, last];
}

function polyline(s, first, last, x, y, spec) {
  let d = "", open = false;
  for (let i = first; i < last; i++) {
    const seen = Number.isFinite(s.y[i]) && !(spec.y.log && !(s.y[i] > 0 && s.y[i] < CEILING));
    if (seen) d += !open ? `M${x(s.x[i]).toFixed(2)} ${y(s.y[i]).toFixed(2)}` : s.stepped ? `H${x(s.x[i]).toFixed(2)}V${y(s.y[i]).toFixed(2)}` : `L${x(s.x[i]).toFixed(2)} ${y(s.y[i]).toFixed(2)}`;
    open = seen;
  }
  return d;
}

// more samples than pixels: the least and the largest value of every pixel
function envelope(s, first, last, x, y, frame) {
  let d = "", column = NaN, low = 0, high = 0;
  const flush = () => { if (!Number.isNaN(column)) d += `${d ? "L" : "M"}${column} ${y(low).toFixed(1)}L${column} ${y(high).toFixed(1)}`; };
  for (let i = first; i < last; i++) {
    const at = Math.round(x(s.x[i])), v = s.y[i];
    if (!Number.isFinite(v)) continue;
    if (at !== column) { flush(); column = at; low = high = v; }
    else { low = Math.min(low, v); high = Math.max(high, v); }
  }
  flush();
  return d;
}

function markCut(plot, s, gone, spec, x, y, frame) {
  const at = x(s.x[gone]), up = !(s.y[gone] < spec.y.low), edge = up ? frame.top + 5 : frame.bottom - 5;
  const mark = svg(plot, "path", { class: "cut", d: `M${at - 5} ${edge - 5}l10 10m0 -10l-10 10`, stroke: s.color, "stroke-width": 2.5, fill: "none" });
  svg(mark, "title", {}, `${s.name} leaves the picture here`);
}

function drawDots(plot, s, spec, x, y, frame) {
  s.y.forEach((v, i) => {
    if (Number.isNaN(v)) return;
    const at = x(s.x[i]);
    if (v >= CEILING) {
      const mark = svg(plot, "path", { class: "diverged", d: `M${at - 6 - 12 * s.level} ${frame.top + 9}l6 -10l6 10z`, fill: s.color });
      svg(mark, "title", {}, `${s.name}: diverged`);
    } else if (v > 0) {
      svg(plot, "circle", { cx: at, cy: y(v), r: s.ring ? 8 : 3.5, fill: s.ring ? "none" : s.hollow ? "var(--paper)" : s.color, stroke: s.color, "stroke-width": s.ring ? 2 : 1.5 });
    }
  });
}

function pointAt(picture, spec, x, W) {
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons) return;
    const box = picture.getBoundingClientRect(), place = ((event.clientX - box.left) / box.width) * W;
    const axis = spec.series[0].x, [first, last] = visible(axis, spec.x.low, spec.x.high);
    let best = first;
    for (let i = first; i < last; i++) if (Math.abs(x(axis[i]) - place) < Math.abs(x(axis[best]) - place)) best = i;
    const lines = spec.series.filter((s) => !s.ring && s.x[best] === axis[best]).map((s) => `${s.name || spec.y.label}: ${show(s.y[best])}`);
    tell(event, [spec.say(axis[best]), ...lines].join("\n"));
  });
  picture.addEventListener("pointerleave", hush);
}

// ---- zooming: charts that show the same record share one view ----------------------------------------------------------------
// a view is {from, to, whole: [a, b], changed: [functions]}; dragging over a chart selects, a double click shows all
function newView(a, b) {
  const view = { from: a, to: b, whole: [a, b], changed: [] };
  view.set = (from, to) => {
    const [low, high] = view.whole, least = (high - low) / 5000;
    view.from = Math.max(low, Math.min(from, high - least));
    view.to = Math.min(high, Math.max(to, view.from + least));
    view.changed.forEach((f) => f());
  };
  view.reset = (from, to) => { view.whole = [from, to]; view.set(from, to); };
  view.by = (factor) => {
    const middle = (view.from + view.to) / 2, half = ((view.to - view.from) / 2) * factor;
    view.set(middle - half, middle + half);
  };
  view.move = (share) => {
    const width = view.to - view.from, shift = Math.max(view.whole[0] - view.from, Math.min(share * width, view.whole[1] - view.to));
    view.set(view.from + shift, view.to + shift);
  };
  return view;
}

function makeZoomable(picture, spec, frame, W) {
  const view = spec.view;
  picture.classList.add("zoomable");
  let begun = null, shade = null;
  const placed = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.max(frame.left, Math.min(frame.right, ((event.clientX - box.left) / box.width) * W));
  };
  const time = (place) => spec.x.low + ((place - frame.left) / (frame.right - frame.left)) * (spec.x.high - spec.x.low);
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    begun = placed(event);
    picture.setPointerCapture(event.pointerId);
    shade = svg(picture, "rect", { class: "shade", x: begun, y: frame.top, width: 0, height: frame.bottom - frame.top });
    hush();
  });
  picture.addEventListener("pointermove", (event) => {
    if (begun === null) return;
    const now = placed(event);
    shade.setAttribute("x", Math.min(begun, now));
    shade.setAttribute("width", Math.abs(now - begun));
  });
  const end = (event, take) => {
    if (begun === null) return;
    const now = placed(event), from = begun;
    begun = null;
    shade.remove();
    if (take && Math.abs(now - from) > 6) view.set(time(Math.min(from, now)), time(Math.max(from, now)));
  };
  picture.addEventListener("pointerup", (event) => end(event, true));
  picture.addEventListener("pointercancel", (event) => end(event, false));
  picture.addEventListener("dblclick", () => view.set(...view.whole));
}

function toolbar(host, view, more) {
  const button = (text, label, act) => {
    const made = html("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    host.appendChild(made);
  };
  (more || []).forEach((node) => host.appendChild(node));
  button("+", "Zoom in", () => view.by(0.5));
  button("−", "Zoom out", () => view.by(2));
  button("◀", "Earlier", () => view.move(-0.5));
  button("▶", "Later", () => view.move(0.5));
  button("Whole record", "Show the whole record", () => view.set(...view.whole));
}
