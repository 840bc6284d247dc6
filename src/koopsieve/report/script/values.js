// ---- values, numbers as people read them, small helpers ----------------------------------------------------------------
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const HUES = range(6).map((i) => `var(--hue${i + 1})`);
const SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

// numbers that are not finite are written as text, so that the data are valid JSON
const num = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value === "nan" ? NaN : value);
const nums = (values) => values.map(num);

function unpack(text, bytes) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(raw.buffer);
  const read = bytes === 4 ? (i) => view.getFloat32(4 * i, true) : (i) => view.getFloat64(8 * i, true);
  return Float64Array.from({ length: raw.length / bytes }, (_, i) => read(i));
}

function power(exponent) {
  return "10" + String(exponent).replace(/[-0-9]/g, (c) => SUPERSCRIPTS["-0123456789".indexOf(c)]);
}

function show(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(+value.toPrecision(3)).replace("-", "−");
  const exponent = Math.floor(Math.log10(size));
  return `${(value / Math.pow(10, exponent)).toPrecision(3)}·${power(exponent)}`.replace("-", "−");
}

const steps = (n) => (n === 1 ? "1 step" : `${n} steps`);
const cut = (name, most) => (name.length > most ? name.slice(0, most - 1) + "…" : name);

function html(tag, attributes, text) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function svg(parent, tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "stroke" || key === "fill") node.style[key] = value;
    else node.setAttribute(key, value);
  }
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

// ---- drawing again: when a box becomes wider or narrower, and when light turns to dark ------------------------------------
const drawings = [];
const observer = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const drawing = drawings.find((one) => one.host === entry.target);
    const width = Math.round(entry.target.clientWidth);
    if (drawing && width > 0 && width !== drawing.width) {
      drawing.width = width;
      drawing.draw();
    }
  }
});

function drawn(host, draw) {
  const drawing = { host, draw, width: Math.round(host.clientWidth) };
  drawings.push(drawing);
  observer.observe(host);
  draw();
  return drawing;
}

// ---- light and dark ------------------------------------------------------------------------------------------------------------
const redrawAll = () => drawings.forEach((one) => one.draw());
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", redrawAll);
byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
  root.dataset.theme = dark ? "light" : "dark";
  redrawAll();
});
addEventListener("beforeprint", redrawAll);

// ---- what is under the pointer -------------------------------------------------------------------------------------------
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
