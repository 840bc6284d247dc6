"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const L = data.names.length;
  const isOutput = new Set(data.outputs);
  const inclusion = unpack(data.inclusion);
  const byId = (id) => document.getElementById(id);
  const KEPT = "#0b6e99", FULL = "#9aa3af", INK = "#1c2430";
  const redraws = [];
  let clips = 0;

  // ---- values -------------------------------------------------------------------------------------------------------
  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  }
  function num(value) {
    return value === "inf" ? Infinity : value === "-inf" ? -Infinity : value === "nan" ? NaN : value;
  }
  function show(value) {
    if (Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5)) return String(+value.toPrecision(3));
    return value.toExponential(1).replace("e", "·10^").replace("+", "");
  }
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  // ---- the sieve: ancestors of the outputs in the thresholded graph, as in koopsieve.reduce ---------------------------
  function retained(threshold) {
    const kept = new Uint8Array(L);
    const open = data.outputs.slice();
    for (const j of open) kept[j] = 1;
    while (open.length) {
      const j = open.pop();
      for (let i = 0; i < L; i++) {
        if (!kept[i] && inclusion[i * L + j] >= threshold) {
          kept[i] = 1;
          open.push(i);
        }
      }
    }
    return kept;
  }
  const count = (kept) => kept.reduce((sum, k) => sum + k, 0);

  // ---- drawing helpers ------------------------------------------------------------------------------------------------
  function html(tag, attributes, text) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  function svg(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  const tooltip = byId("tooltip");
  function tell(event, text) {
    tooltip.textContent = text;
    tooltip.hidden = false;
    const box = tooltip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18;
    tooltip.style.left = Math.max(4, x) + "px";
    tooltip.style.top = Math.max(4, y) + "px";
  }
  const hush = () => { tooltip.hidden = true; };
  function onResize(draw) {
    redraws.push(draw);
    draw();
  }
  function key(host, entries) {
    const list = html("ul", { class: "key" });
    for (const entry of entries) {
      const item = html("li");
      const mark = html("i", entry.dot ? { class: "dot" } : {});
      mark.style.borderColor = entry.color;
      if (entry.dash) mark.style.borderTopStyle = "dashed";
      if (entry.fill) mark.style.background = entry.color;
      item.append(mark, document.createTextNode(entry.name));
      list.appendChild(item);
    }
    host.appendChild(list);
  }

  // ---- axes -----------------------------------------------------------------------------------------------------------
  function scale(low, high, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    const a = f(low), b = f(high) === f(low) ? f(low) + 1 : f(high);
    return (v) => from + ((f(v) - a) / (b - a)) * (to - from);
  }
  function linearTicks(low, high, most) {
    const raw = (high - low) / most || 1;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const ticks = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step) ticks.push(+t.toPrecision(12));
    return ticks;
  }
  function logTicks(low, high, most) {
    const a = Math.ceil(Math.log10(low) - 1e-9), b = Math.floor(Math.log10(high) + 1e-9);
    const stride = Math.max(1, Math.ceil((b - a + 1) / most));
    return range(b - a + 1).filter((i) => i % stride === 0).map((i) => Math.pow(10, a + i));
  }
  function tickLabel(value, log) {
    if (!log || (value >= 0.01 && value <= 100)) return String(+value.toPrecision(6));
    return "10" + String(Math.round(Math.log10(value))).replace(/[-0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  }

  // options: series [{name, x, y, color, dash, width, dots, step}], xlog, ylog, xticks, xlabel, ylabel, low, high, line, height
  function lineChart(host, options) {
    host.replaceChildren();
    if (options.legend !== false) key(host, options.series);
    const W = Math.max(240, host.clientWidth), H = options.height || Math.max(200, Math.min(320, W * 0.5));
    const left = 54, right = 14, top = 10, bottom = 42;
    const picture = svg(host, "svg", { viewBox: `0 0 ${W} ${H}`, height: H });
    const xs = options.series.flatMap((s) => s.x);
    const x = scale(Math.min(...xs), Math.max(...xs), left, W - right, options.xlog);
    const y = scale(options.low, options.high, H - bottom, top, options.ylog);
    const xticks = options.xticks || linearTicks(Math.min(...xs), Math.max(...xs), W / 90);
    const yticks = (options.ylog ? logTicks : linearTicks)(options.low, options.high, H / 44);
    for (const t of yticks) {
      svg(picture, "line", { class: "grid", x1: left, x2: W - right, y1: y(t), y2: y(t) });
      svg(picture, "text", { x: left - 7, y: y(t) + 4, "text-anchor": "end" }, tickLabel(t, options.ylog));
    }
    let taken = -Infinity;
    for (const t of xticks) {
      svg(picture, "line", { class: "axis", x1: x(t), x2: x(t), y1: H - bottom, y2: H - bottom + 5 });
      if (x(t) - taken > 34) {
        svg(picture, "text", { x: x(t), y: H - bottom + 18, "text-anchor": "middle" }, (options.xtext || ((v) => tickLabel(v, false)))(t));
        taken = x(t);
      }
    }
    svg(picture, "path", { class: "axis", d: `M${left} ${top}V${H - bottom}H${W - right}` });
    svg(picture, "text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle" }, options.xlabel);
    svg(picture, "text", { transform: `translate(13 ${(top + H - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, options.ylabel);
    const clip = `clip${++clips}`;
    svg(svg(picture, "clipPath", { id: clip }), "rect", { x: left - 6, y: top - 6, width: W - left - right + 12, height: H - top - bottom + 12 });
    const plot = svg(picture, "g", { "clip-path": `url(#${clip})` });
    if (options.line !== undefined && options.line > options.low && options.line < options.high) {
      svg(plot, "line", { class: "guide", x1: left, x2: W - right, y1: y(options.line), y2: y(options.line) });
      svg(plot, "text", { x: left + 6, y: y(options.line) - 5 }, options.lineLabel || "");
    }
    for (const s of options.series) drawSeries(plot, s, x, y, options);
    if (options.marker !== undefined) {
      svg(plot, "line", { class: "guide now", x1: x(options.marker), x2: x(options.marker), y1: top, y2: H - bottom });
    }
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect(), place = ((event.clientX - box.left) / box.width) * W;
      const axis = options.series[0].x;
      const i = axis.reduce((b, v, k) => (Math.abs(x(v) - place) < Math.abs(x(axis[b]) - place) ? k : b), 0);
      const lines = options.series.map((s) => `${s.name}: ${show(s.y[i])}`);
      tell(event, [options.xname(axis[i]), ...lines].join("\n"));
    });
    picture.addEventListener("pointerleave", hush);
  }
  function drawSeries(plot, s, x, y, options) {
    const pad = (options.high - options.low) * 2;
    const inside = (v) => options.ylog
      ? Math.min(Math.max(v, options.low), options.high)
      : Math.min(Math.max(v, options.low - pad), options.high + pad);
    const points = s.x.map((v, i) => [v, s.y[i]]).filter((p) => !Number.isNaN(p[1])).map((p) => [x(p[0]), y(inside(p[1])), p[1]]);
    const d = points.map((p, i) => (i === 0 ? `M${p[0]} ${p[1]}` : s.step ? `H${p[0]}V${p[1]}` : `L${p[0]} ${p[1]}`)).join("");
    svg(plot, "path", { d, fill: "none", stroke: s.color, "stroke-width": s.width || 2, "stroke-dasharray": s.dash ? "5 4" : "none", "stroke-linejoin": "round" });
    (s.spread || []).forEach((e, i) => {
      const a = y(inside(Math.max(s.y[i] - e, s.y[i] * 0.1))), b = y(inside(s.y[i] + e));
      if (Number.isFinite(a) && Number.isFinite(b)) svg(plot, "path", { d: `M${x(s.x[i])} ${a}V${b}`, stroke: s.color, opacity: 0.5 });
    });
    if (!s.dots) return;
    for (const p of points) {
      const off = p[2] > options.high;
      if (off) svg(plot, "path", { d: `M${p[0] - 5} ${p[1] + 5}L${p[0]} ${p[1] - 4}L${p[0] + 5} ${p[1] + 5}z`, fill: s.color });
      else svg(plot, "circle", { cx: p[0], cy: p[1], r: 3.5, fill: s.hollow ? "#fff" : s.color, stroke: s.color, "stroke-width": 1.5 });
    }
  }

  // ---- threshold ------------------------------------------------------------------------------------------------------
  const slider = byId("slider"), field = byId("threshold");
  const fromSlider = (v) => 1 / (1 + Math.pow(10, -v / 100));
  const toSlider = (t) => Math.round(100 * Math.log10(t / (1 - t)));
  let threshold = data.threshold;
  const grid = range(161).map((i) => fromSlider(-400 + 5 * i));
  const sizes = grid.map((t) => count(retained(t)));

  const marks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
  function drawSizes() {
    lineChart(byId("sizes"), {
      series: [{ name: "kept", x: grid.map(toSlider), y: sizes, color: KEPT, step: true }],
      legend: false, low: 0, high: Math.max(...sizes) * 1.05 + 1, height: 130, marker: toSlider(threshold),
      xticks: marks.map(toSlider), xtext: (v) => String(marks.find((t) => toSlider(t) === v)),
      xlabel: "threshold", ylabel: "kept", xname: (v) => `threshold ${show(fromSlider(v))}`,
    });
  }
  function update(next) {
    threshold = next;
    const kept = retained(threshold);
    byId("verdict").textContent = `${count(kept)} of ${L} observables are ${data.path ? "ancestors of the outputs" : "kept"} at threshold ${+threshold.toPrecision(4)}` +
      (data.path ? "." : threshold === data.threshold ? ", as in this run." : ". The models in this report are those of the run.");
    byId("retained").replaceChildren(...range(L).filter((i) => kept[i]).map((i) =>
      html("li", { "data-index": i, class: isOutput.has(i) ? "output" : "" }, data.names[i])));
    for (const row of document.querySelectorAll("#why tbody tr")) row.classList.toggle("out", !kept[+row.dataset.index]);
    for (const chip of document.querySelectorAll(".graph .chip[data-index]")) chip.classList.toggle("off", !kept[+chip.dataset.index]);
    byId("retained").dataset.threshold = String(threshold);
    drawSizes();
  }
  slider.addEventListener("input", () => {
    const next = +fromSlider(+slider.value).toPrecision(4);
    field.value = String(next);
    update(next);
    drawHeat();
  });
  field.addEventListener("input", () => {
    const next = Number(field.value);
    if (!(next > 0 && next < 1)) return;
    slider.value = String(toSlider(next));
    update(next);
    drawHeat();
  });
  byId("reset").addEventListener("click", () => {
    field.value = String(data.threshold);
    slider.value = String(toSlider(data.threshold));
    update(data.threshold);
    drawHeat();
  });
  for (const bar of document.querySelectorAll(".bar")) bar.style.width = 100 * Number(bar.dataset.share) + "%";

  // ---- how many to keep -----------------------------------------------------------------------------------------------
  const hues = ["#0b6e99", "#bc6c25", "#2a7f62", "#9d2449", "#6d597a", "#1b4965"];
  let point = data.path ? data.path.chosen : 0;
  function drawPath() {
    const points = data.path.points, sizes = points.map((p) => p.retained.length);
    const series = data.horizons.map((h, i) => ({
      name: `${h} step${h > 1 ? "s" : ""} ahead`, x: sizes, y: points.map((p) => num(p.error[i])), dots: true, width: 1.8,
      spread: points.map((p) => num(p.spread[i])), color: hues[i % hues.length],
    }));
    const values = series.flatMap((s) => s.y).filter((v) => v > 0 && Number.isFinite(v));
    lineChart(byId("path-chart"), {
      series, xlog: true, ylog: true, line: 1, lineLabel: "predicting the mean", marker: sizes[point],
      low: Math.pow(10, Math.floor(Math.log10(Math.min(0.1, ...values)))),
      high: Math.min(1e4, Math.pow(10, Math.ceil(Math.log10(Math.max(2, ...values))))),
      xticks: sizes, xlabel: "observables kept", ylabel: "NMSE, validation", xname: (n) => `${n} observables`,
    });
    byId("size").value = String(point);
    byId("size-shown").textContent = String(sizes[point]);
    byId("size-verdict").textContent = point === data.path.chosen ? "This size was chosen; the models in this report are of this size."
      : "Not the size of the models in this report.";
    byId("size-names").replaceChildren(...points[point].retained.map((i) =>
      html("li", { "data-index": i, class: isOutput.has(i) ? "output" : "" }, data.names[i])));
  }
  function choosePoint(next) {
    point = next;
    drawPath();
  }

  // ---- error against horizon ------------------------------------------------------------------------------------------
  const colors = { I: "#1b4965", II: "#bc6c25", III: "#2a7f62", IV: "#9d2449", path: "#0b6e99" };
  function drawError(host) {
    const ceiling = 1e4;
    const series = Object.entries(data.methods).flatMap(([name, sets]) => ["full", "reduced"].map((size) => ({
      name: `${name}, ${size === "full" ? "all" : "kept"} ${data.sizes[size]}`, x: data.horizons, y: sets[size].map(num),
      color: colors[name] || INK, dash: size === "full", hollow: size === "full", width: size === "full" ? 1.2 : 2.4, dots: true,
    })));
    const values = series.flatMap((s) => s.y).filter((v) => v > 0 && Number.isFinite(v));
    const low = Math.pow(10, Math.floor(Math.log10(Math.min(1e-1, ...values))));
    const high = Math.min(ceiling, Math.pow(10, Math.ceil(Math.log10(Math.max(2, ...values)))));
    lineChart(host, {
      series, xlog: true, ylog: true, low, high, line: 1, lineLabel: "predicting the mean", xticks: data.horizons,
      xlabel: `steps ahead, of ${+data.dt.toPrecision(4)} each`, ylabel: "NMSE", xname: (h) => `${h} steps ahead`,
    });
  }

  // ---- predicted and measured -----------------------------------------------------------------------------------------
  let stretch = 0;
  function drawTrajectories() {
    const host = byId("trajectories"), example = data.examples[stretch];
    host.replaceChildren();
    data.outputNames.forEach((name, o) => {
      const box = html("div", { class: "chart" });
      host.appendChild(box);
      const time = example.measured[o].map((_, k) => k);
      const lines = { measured: example.measured[o], full: example.full[o].map(num), reduced: example.reduced[o].map(num) };
      const [a, b] = [Math.min(...lines.measured), Math.max(...lines.measured)];
      const room = 0.25 * (b - a || 1);
      lineChart(box, {
        series: [
          { name: "measured", x: time, y: lines.measured, color: INK, width: 1.6 },
          { name: `all ${data.sizes.full}`, x: time, y: lines.full, color: FULL, width: 1.6, dash: true },
          { name: `kept ${data.sizes.reduced}`, x: time, y: lines.reduced, color: KEPT, width: 2.2 },
        ],
        low: a - room, high: b + room, xlabel: "steps ahead", ylabel: name.length > 22 ? name.slice(0, 21) + "…" : name,
        xname: (k) => `${name}, ${k} steps ahead`,
      });
    });
  }
  function offerStretches() {
    const host = byId("stretch");
    data.examples.forEach((example, i) => {
      const button = html("button", { type: "button", "aria-pressed": String(i === 0) }, example.kind);
      button.addEventListener("click", () => {
        stretch = i;
        for (const other of host.children) other.setAttribute("aria-pressed", String(other === button));
        drawTrajectories();
      });
      host.appendChild(button);
    });
  }

  // ---- inclusion matrix -----------------------------------------------------------------------------------------------
  const order = data.order;
  const rows = order.concat(range(data.inputs.length).map((i) => L + i));
  const regressor = (i) => (i < L ? data.names[i] : `${data.inputs[i - L]} (input)`);
  const heat = { cell: 1, gutter: 0 };
  function drawHeat() {
    const canvas = byId("heatmap"), W = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
    heat.gutter = W > 560 && L <= 40 ? 150 : 0;
    heat.cell = Math.min(22, (W - heat.gutter - 2) / L);
    const width = heat.gutter + heat.cell * L + 2, height = heat.cell * rows.length + 2;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.translate(1 + heat.gutter, 1);
    rows.forEach((i, r) => order.forEach((j, c) => {
      const p = inclusion[i * L + j];
      pen.fillStyle = `rgb(${255 - 244 * p},${255 - 195 * p},${255 - 162 * p})`;
      pen.fillRect(c * heat.cell, r * heat.cell, heat.cell + 0.3, heat.cell + 0.3);
    }));
    const n = count(retained(threshold)) * heat.cell;
    pen.strokeStyle = "#c4cad2";
    pen.strokeRect(0, 0, heat.cell * L, heat.cell * rows.length);
    pen.strokeStyle = "#c2410c";
    pen.lineWidth = 1.5;
    pen.strokeRect(0, 0, n, n);
    if (heat.gutter) labelHeat(pen);
  }
  function labelHeat(pen) {
    pen.font = `${Math.min(12, heat.cell)}px system-ui, sans-serif`;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillStyle = INK;
    rows.forEach((i, r) => {
      const name = regressor(i);
      pen.fillText(name.length > 22 ? name.slice(0, 21) + "…" : name, -6, (r + 0.5) * heat.cell, heat.gutter - 10);
    });
  }
  byId("heatmap").addEventListener("pointermove", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const c = Math.floor((event.clientX - box.left - 1 - heat.gutter) / heat.cell);
    const r = Math.floor((event.clientY - box.top - 1) / heat.cell);
    if (c < 0 || r < 0 || c >= L || r >= rows.length) return hush();
    const p = inclusion[rows[r] * L + order[c]];
    return tell(event, `${regressor(rows[r])}\ndrives ${data.names[order[c]]}\nwith probability ${show(p)}`);
  });
  byId("heatmap").addEventListener("pointerleave", hush);

  // ---- eigenvalues ----------------------------------------------------------------------------------------------------
  function drawEigenvalues() {
    const host = byId("eigenvalues");
    host.replaceChildren();
    const sets = [["full", FULL, "all", false], ["reduced", KEPT, "kept", true]];
    key(host, sets.map(([size, color, word, fill]) => ({ name: `${word} ${data.sizes[size]}`, color, dot: true, fill })));
    const W = Math.min(460, Math.max(240, host.clientWidth)), reach = 1.15, R = W / 2 - 6;
    const picture = svg(host, "svg", { viewBox: `0 0 ${W} ${W}`, height: W });
    picture.style.maxWidth = W + "px";
    const at = (v) => [W / 2 + (v[0] / reach) * R, W / 2 - (v[1] / reach) * R];
    svg(picture, "path", { class: "axis", d: `M0 ${W / 2}H${W}M${W / 2} 0V${W}` });
    svg(picture, "circle", { cx: W / 2, cy: W / 2, r: R / reach, fill: "none", stroke: "#8a94a3" });
    for (const [size, color, word, fill] of sets) {
      for (const value of data.eigenvalues[size].map((v) => v.map(num))) {
        const modulus = Math.hypot(...value);
        if (!Number.isFinite(modulus)) continue;
        const shrink = modulus > reach ? reach / modulus : 1;
        const [x, y] = at(value.map((v) => v * shrink));
        const dot = svg(picture, "circle", { cx: x, cy: y, r: fill ? 4 : 5, fill: fill ? color : "none", stroke: color, "stroke-width": 1.6 });
        dot.addEventListener("pointermove", (event) =>
          tell(event, `${word}: ${show(value[0])} ${value[1] < 0 ? "−" : "+"} ${show(Math.abs(value[1]))}i\nmodulus ${modulus.toPrecision(5)}` + (shrink < 1 ? " (drawn at the edge)" : "")));
        dot.addEventListener("pointerleave", hush);
      }
    }
  }

  // ---- all of it ------------------------------------------------------------------------------------------------------
  field.value = String(data.threshold);
  slider.value = String(toSlider(data.threshold));
  onResize(() => update(threshold));
  onResize(() => drawError(document.querySelector('[data-chart="error"]')));
  if (data.path) {
    onResize(drawPath);
    byId("size").addEventListener("input", () => choosePoint(+byId("size").value));
    byId("size-reset").addEventListener("click", () => choosePoint(data.path.chosen));
  }
  offerStretches();
  onResize(drawTrajectories);
  onResize(drawHeat);
  onResize(drawEigenvalues);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => redraws.forEach((draw) => draw()));
  });
  addEventListener("beforeprint", () => redraws.forEach((draw) => draw()));
  document.documentElement.dataset.ready = "true";
})();
