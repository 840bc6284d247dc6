// ---- what drives what: the matrix, and the threshold where it decides ---------------------------------------------------------
const dependencies = data.dependencies;
const inclusion = unpack(dependencies.inclusion, 8);
const T = dependencies.targets.length, R = dependencies.regressors.length;
let threshold = dependencies.threshold;

// ancestors of the outputs in the thresholded graph, as in koopsieve.reduce
function retained(limit) {
  const kept = new Uint8Array(T), open = dependencies.outputs.slice();
  for (const j of open) kept[j] = 1;
  while (open.length) {
    const j = open.pop();
    for (let i = 0; i < T; i++) {
      if (!kept[i] && inclusion[i * T + j] >= limit) {
        kept[i] = 1;
        open.push(i);
      }
    }
  }
  return kept;
}

const heat = { cell: 1, high: 1, gutter: 0, top: 0 };
function drawHeat() {
  const canvas = byId("heatmap"), W = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
  const style = getComputedStyle(document.documentElement), paint = (name) => style.getPropertyValue(name).trim();
  const [zero, one] = [paint("--heat0"), paint("--heat1")].map((c) => c.split(" ").map(Number));
  const named = Math.max(R, T) <= 60;
  heat.gutter = named ? Math.min(170, W * 0.36) : 0;
  const slant = named ? 58 : 0;  // room for the last slanted name
  heat.cell = Math.max(1, Math.min(named && T < 13 ? 44 : 26, (W - heat.gutter - slant - 2) / T));
  heat.high = named ? Math.max(13, Math.min(R > 30 ? 14 : 22, heat.cell)) : heat.cell;
  const longest = Math.min(18, Math.max(...dependencies.targets.map((name) => name.length)));
  heat.top = named && heat.cell >= 11 ? 14 + 5 * longest : 0;
  const width = heat.gutter + heat.cell * T + (heat.top ? slant : 0) + 2, height = heat.top + heat.high * R + 2;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.translate(1 + heat.gutter, 1 + heat.top);
  for (let i = 0; i < R; i++) {
    for (let j = 0; j < T; j++) {
      const p = inclusion[i * T + j];
      pen.fillStyle = `rgb(${zero.map((a, c) => Math.round(a + (one[c] - a) * p)).join(",")})`;
      pen.fillRect(j * heat.cell, i * heat.high, heat.cell + 0.3, heat.high + 0.3);
    }
  }
  pen.strokeStyle = paint("--line");
  pen.strokeRect(0, 0, heat.cell * T, heat.high * R);
  pen.fillStyle = paint("--ink");
  pen.font = `${Math.min(12, heat.high - 1)}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  if (!named) return;
  pen.textAlign = "right";
  dependencies.regressors.forEach((name, i) => pen.fillText(cut(name, 24), -6, (i + 0.5) * heat.high, heat.gutter - 10));
  if (!heat.top) return;
  pen.textAlign = "left";
  dependencies.targets.forEach((name, j) => {
    pen.save();
    pen.translate((j + 0.5) * heat.cell, -5);
    pen.rotate(-Math.PI / 3);
    pen.fillText(cut(name, 18), 0, 0, 104);
    pen.restore();
  });
}

function drawDrives() {
  const canvas = byId("heatmap");
  drawn(canvas.parentElement, drawHeat);
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - 1 - heat.gutter) / heat.cell), i = Math.floor((event.clientY - box.top - 1 - heat.top) / heat.high);
    if (j < 0 || i < 0 || j >= T || i >= R) return hush();
    return tell(event, `${dependencies.regressors[i]}\ndrives ${dependencies.targets[j]}\nwith probability ${show(inclusion[i * T + j])}`);
  });
  canvas.addEventListener("pointerleave", hush);
  for (const bar of document.querySelectorAll(".bar")) bar.style.width = 100 * Number(bar.dataset.share) + "%";
  if (dependencies.movable) drawThreshold();
}

function drawThreshold() {
  const slider = byId("slider"), field = byId("threshold");
  const fromSlider = (v) => 1 / (1 + Math.pow(10, -v / 100)), toSlider = (t) => Math.round(100 * Math.log10(t / (1 - t)));
  const grid = range(161).map((i) => -400 + 5 * i), count = (limit) => retained(limit).reduce((sum, k) => sum + k, 0);
  const sizes = grid.map((v) => count(fromSlider(v))), marks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
  const drawing = chart(byId("sizes"), () => ({
    series: [{ name: "", x: grid, y: sizes, color: "var(--sifted)", stepped: true }], legend: false, height: 150, marker: toSlider(threshold),
    x: { label: "threshold", low: -400, high: 400, ticks: marks.map(toSlider), text: (v) => String(marks.find((t) => toSlider(t) === v)) },
    y: { label: "kept", low: 0, high: Math.max(...sizes) * 1.05 + 1 }, say: (v) => `threshold ${show(fromSlider(v))}`,
  }));
  const update = (next) => {
    threshold = next;
    const kept = retained(threshold), n = kept.reduce((sum, k) => sum + k, 0);
    byId("verdict").textContent = `${n} of ${T} observables are kept at threshold ${+threshold.toPrecision(4)}` +
      (threshold === dependencies.threshold ? ", as in this run." : ". The model in this report is that of the run.");
    byId("retained").replaceChildren(...range(T).filter((i) => kept[i]).map((i) =>
      html("li", { "data-index": i, class: dependencies.outputs.includes(i) ? "output" : "" }, dependencies.targets[i])));
    document.querySelectorAll("#why tbody tr").forEach((row, i) => row.classList.toggle("out", !kept[i]));
    drawing.draw();
  };
  const set = (next) => { field.value = String(next); slider.value = String(toSlider(next)); update(next); };
  slider.addEventListener("input", () => { const next = +fromSlider(+slider.value).toPrecision(4); field.value = String(next); update(next); });
  field.addEventListener("input", () => {
    const next = Number(field.value);
    if (!(next > 0 && next < 1)) return;
    slider.value = String(toSlider(next));
    update(next);
  });
  byId("reset").addEventListener("click", () => set(dependencies.threshold));
  set(dependencies.threshold);
}
