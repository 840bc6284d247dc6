// ---- runs side by side -----------------------------------------------------------------------------------------------------
const hue = (i) => HUES[i % HUES.length];
const every = (pick) => data.runs.flatMap(pick);

chart(byId("error-chart"), () => {
  const series = data.runs.flatMap((run, i) => [
    { name: run.name, x: run.horizons, y: nums(run.error), color: hue(i), dots: true, width: 2.2, front: true },
    { name: `${run.name}: linear`, x: run.horizons, y: nums(run.linear), color: hue(i), dash: DOTTED, dots: true, hollow: true, width: 1.3 },
  ]);
  const [low, high] = logLimits(series.flatMap((s) => s.y)), horizons = every((run) => run.horizons);
  return {
    series, guides: [{ y: 1, text: "predicting the mean" }], height: 340,
    x: { label: "steps ahead", log: true, ticks: [...new Set(horizons)].sort((a, b) => a - b), low: Math.min(...horizons), high: Math.max(...horizons) },
    y: { label: "NMSE", log: true, low, high }, say: (h) => `${steps(h)} ahead`,
  };
});

chart(byId("path-chart"), () => {
  const series = data.runs.map((run, i) => ({ name: run.name, x: run.sizes, y: nums(run.path), color: hue(i), dots: true, width: 1.8 }));
  data.runs.forEach((run, i) => series.push({ name: "", x: [run.sizes[run.chosen]], y: [num(run.path[run.chosen])], color: hue(i), dots: true, ring: true }));
  const [low, high] = logLimits(series.flatMap((s) => s.y)), sizes = every((run) => run.sizes);
  const wide = Math.max(...sizes) > 12 * Math.min(...sizes);
  return {
    series, height: 340,
    x: { label: "terms kept; a ring marks the choice", log: wide, ticks: [...new Set(sizes)].sort((a, b) => a - b), low: Math.min(...sizes) * 0.93, high: Math.max(...sizes) * 1.07 },
    y: { label: "validation NMSE", log: true, low, high }, say: (n) => `${n} terms`,
  };
});

document.documentElement.dataset.ready = "true";
