// ---- how many to keep ------------------------------------------------------------------------------------------------------
function drawSize() {
  const points = data.path.points, sizes = points.map((p) => p.retained.length), slider = byId("size");
  let point = data.path.chosen;
  const wide = sizes[sizes.length - 1] > 12 * sizes[0];
  const drawing = chart(byId("path-chart"), () => {
    const series = data.horizons.map((h, i) => ({
      name: `${steps(h)} ahead`, x: sizes, y: points.map((p) => num(p.error[i])), spread: points.map((p) => num(p.spread[i])),
      color: HUES[i % HUES.length], dots: true, width: 1.8,
    }));
    const [low, high] = logLimits(series.flatMap((s) => s.y));
    return {
      series, marker: sizes[point], guides: [{ y: 1, text: "predicting the mean", at: "end" }], height: 330,
      x: { label: "terms kept", log: wide, ticks: sizes, low: wide ? sizes[0] * 0.93 : sizes[0] - 0.5, high: wide ? sizes[sizes.length - 1] * 1.07 : sizes[sizes.length - 1] + 0.5 },
      y: { label: "NMSE on validation windows", log: true, low, high },
      say: (n) => `${n} terms`,
    };
  });
  const choose = (next) => {
    point = next;
    slider.value = String(point);
    byId("size-shown").textContent = String(sizes[point]);
    const error = points[point].error, last = data.horizons.length - 1;
    byId("size-verdict").textContent = `NMSE ${show(num(error[last]))} at ${steps(data.horizons[last])}. ` +
      (point === data.path.chosen ? "This size was chosen; the model in this report has it." : "The model in this report has another size.");
    byId("size-names").replaceChildren(...points[point].retained.map((i) =>
      html("li", { "data-index": i, class: data.outputs.includes(data.names[i]) ? "output" : "" }, data.names[i])));
    drawing.draw();
  };
  slider.addEventListener("input", () => choose(+slider.value));
  byId("size-reset").addEventListener("click", () => choose(data.path.chosen));
  choose(point);
}
