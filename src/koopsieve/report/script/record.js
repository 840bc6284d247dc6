// ---- the judged record: every channel, the free runs of the models --------------------------------------------------------
const COLORS = { measured: "var(--ink)", sifted: "var(--sifted)", linear: "var(--linear)", everything: "var(--everything)", persistence: "var(--persistence)" };
const DASHES = { linear: DASHED, everything: DOTTED, persistence: DOTTED };
const record = data.record;
const unpacked = new Map();
function partAt(number) {
  if (!unpacked.has(number)) {
    const part = record.parts[number], columns = (packed) => packed.map((text) => unpack(text, 4));
    unpacked.set(number, {
      time: Float64Array.from({ length: part.rows }, (_, k) => (record.first + k) * data.dt),
      outputs: columns(part.outputs), inputs: columns(part.inputs), truth: part.truth && columns(part.truth),
      runs: Object.fromEntries(Object.entries(part.runs).map(([name, packed]) => [name, columns(packed)])),
      band: part.band && part.band.map(columns),
    });
  }
  return unpacked.get(number);
}

let shown = 0;
const lastTime = (part) => part.time[part.time.length - 1];
const view = newView(partAt(0).time[0], lastTime(partAt(0)));
const selectors = [];
function episodeSelector() {
  if (record.parts.length < 2) return [];
  const label = html("label", {}, "Episode "), select = html("select");
  record.parts.forEach((part, i) => select.appendChild(html("option", { value: i }, String(part.episode + 1))));
  select.addEventListener("change", () => {
    shown = +select.value;
    selectors.forEach((other) => { other.value = String(shown); });
    view.reset(partAt(shown).time[0], lastTime(partAt(shown)));
  });
  selectors.push(select);
  label.appendChild(select);
  return [label];
}

function limits(time, values, room) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (time[i] < view.from || time[i] > view.to) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  if (!(high >= low)) [low, high] = [0, 1];
  const more = room * (high - low || Math.abs(high) || 1);
  return [low - more, high + more];
}

// a run counts as diverged from where it is further from the measured values than three times their range
function divergence(measured) {
  let low = Infinity, high = -Infinity;
  for (const v of measured) { low = Math.min(low, v); high = Math.max(high, v); }
  const far = 3 * (high - low || 1);
  return (values) => {
    const place = values.findIndex((v) => !(v > low - far && v < high + far));
    return place < 0 ? values.length : place;
  };
}

function timeChart(host, label, height, series, more) {
  const drawing = chart(host, () => {
    const lines = series(partAt(shown)), [low, high] = limits(lines[0].x, lines[0].y, lines.length > 1 ? 0.3 : 0.06);
    return {
      series: lines, height, view, legend: lines.length > 1,
      x: { label: "time / s", low: view.from, high: view.to }, y: { label, low, high },
      say: (t) => `${show(t)} s (sample ${Math.round(t / data.dt)})`, ...(more ? more(partAt(shown)) : {}),
    };
  });
  view.changed.push(drawing.draw);
}

function drawChannels() {
  toolbar(byId("channels-tools"), view, episodeSelector());
  const host = byId("channels");
  const channels = [...data.outputs.map((name, i) => [name, "outputs", i]), ...data.inputs.map((name, i) => [name, "inputs", i])];
  const boxes = channels.map(() => host.appendChild(html("div", { class: "chart" })));  // all boxes first: their width depends on each other
  channels.forEach(([name, kind, i], n) => timeChart(boxes[n], data.labels[name], 170, (part) => [
    { name: "", x: part.time, y: part[kind][i], color: kind === "outputs" ? "var(--ink)" : "var(--linear)", width: 1.4, stepped: kind === "inputs" },
  ]));
}

function drawSpectra() {
  const host = byId("spectra"), entries = Object.entries(data.spectra);
  const boxes = entries.map(() => host.appendChild(html("div", { class: "chart" })));
  entries.forEach(([name, found], n) => chart(boxes[n], () => {
    const seen = found.amplitude.filter((v) => v > 0), top = Math.max(...seen, 1e-300), f = found.frequency;
    return {
      series: [{ name: "", x: f, y: found.amplitude.map((v) => Math.max(v, top * 1e-6)), color: data.inputs.includes(name) ? "var(--linear)" : "var(--ink)", width: 1.3 }],
      legend: false, height: 190, x: { label: "frequency / Hz", log: true, low: f[0], high: f[f.length - 1] },
      y: { label: data.labels[name], log: true, low: Math.max(Math.min(...seen), top * 1e-6) / 1.5, high: top * 1.5 },
      say: (v) => `${show(v)} Hz`,
    };
  }));
}

function drawRuns() {
  toolbar(byId("runs-tools"), view, episodeSelector());
  const host = byId("runs");
  const boxes = data.outputs.map(() => [0, 1].map(() => host.appendChild(html("div", { class: "chart" }))));
  data.outputs.forEach((name, i) => timeChart(boxes[i][0], data.labels[name], 300, (part) => {
    const reference = (part.truth || part.outputs)[i], cutRun = divergence(reference);
    return [
      { name: part.truth ? "true" : "measured", x: part.time, y: reference, color: COLORS.measured, width: 1.5 },
      ...record.runs.map((run) => (
        { name: run, x: part.time, y: part.runs[run][i], color: COLORS[run], width: run === "sifted" ? 2.2 : 1.5, dash: DASHES[run], front: run === "sifted", cut: cutRun })),
    ];
  }, (part) => (part.band && { band: { x: [...part.time.slice(0, part.band[0][i].length)], lower: part.band[0][i], upper: part.band[1][i], color: COLORS.sifted } })));
  data.outputs.forEach((name, i) => timeChart(boxes[i][1], `error of ${data.labels[name]}`, 150, (part) => {
    const reference = (part.truth || part.outputs)[i];
    return record.runs.filter((run) => run !== "everything").map((run) => (
      { name: run, x: part.time, y: part.runs[run][i].map((v, k) => reference[k] - v), color: COLORS[run], width: run === "sifted" ? 1.8 : 1.2, dash: DASHES[run], front: run === "sifted" }));
  }, () => ({ guides: [{ y: 0 }], legend: false })));
}

// ---- stretches: typical, best, worst ---------------------------------------------------------------------------------------
let stretch = 0;
function drawStretches() {
  const buttons = byId("stretch"), host = byId("stretches"), redraws = [];
  data.examples.forEach((example, i) => {
    const button = html("button", { type: "button", "aria-pressed": String(i === 0) }, example.kind);
    button.addEventListener("click", () => {
      stretch = i;
      for (const other of buttons.children) other.setAttribute("aria-pressed", String(other === button));
      redraws.forEach((draw) => draw());
    });
    buttons.appendChild(button);
  });
  const boxes = data.outputs.map(() => host.appendChild(html("div", { class: "chart" })));
  data.outputs.forEach((name, o) => redraws.push(chart(boxes[o], () => {
    const example = data.examples[stretch], measured = example.measured[o], time = measured.map((_, k) => k);
    const [a, b] = [Math.min(...measured), Math.max(...measured)], room = 0.35 * (b - a || 1);
    const leaves = (values) => { const place = values.findIndex((v) => !(v >= a - room && v <= b + room)); return place < 0 ? values.length : place; };
    return {
      series: [
        { name: record.parts[0].truth ? "true" : "measured", x: time, y: measured, color: COLORS.measured, width: 1.6 },
        ...Object.entries(example.predicted).map(([run, values]) => (
          { name: run, x: time, y: nums(values[o]), color: COLORS[run], width: run === "sifted" ? 2.2 : 1.5, dash: DASHES[run], front: run === "sifted", cut: leaves })),
      ],
      band: example.band && { x: time, lower: example.band[0][o], upper: example.band[1][o], color: COLORS.sifted },
      x: { label: "steps ahead", low: 0, high: time.length - 1 }, y: { label: data.labels[name], low: a - room, high: b + room },
      say: (k) => `${steps(k)} ahead`,
    };
  }).draw));
}
