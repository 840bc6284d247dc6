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
