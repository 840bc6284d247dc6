// ---- error against horizon -------------------------------------------------------------------------------------------------
function drawErrors() {
  const methods = [...new Set(data.models.map((m) => m.name))].filter((name) => !(name in COLORS));
  chart(byId("error-chart"), () => {
    const series = data.models.map((m) => ({
      name: m.label, x: data.horizons, y: nums(m.error), color: COLORS[m.name] || HUES[2 + (methods.indexOf(m.name) % 4)],
      dash: DASHES[m.name] || (m.kept ? "" : DASHED), hollow: m.name !== "sifted", front: m.name === "sifted", width: m.name === "sifted" ? 2.6 : 1.5, dots: true,
    }));
    const [low, high] = logLimits(series.flatMap((s) => s.y));
    return {
      series, guides: [{ y: 1, text: "predicting the mean" }], height: 330,
      x: { label: `steps ahead, of ${show(data.dt)} s each`, log: true, ticks: data.horizons, low: data.horizons[0], high: data.horizons[data.horizons.length - 1] },
      y: { label: `NMSE on ${data.judgedOn} data`, log: true, low, high },
      say: (h) => `${steps(h)} ahead`,
    };
  });
}

// ---- residuals: correlation with their own past and with the inputs ----------------------------------------------------------
function residualTests() {
  const found = data.summary.residuals;
  return data.outputs.flatMap((output) => [
    { of: output, with: null, ...found.whiteness[output] },
    ...data.inputs.map((input) => ({ of: output, with: input, ...found.inputs[output][input] })),
  ]);
}

function drawResiduals() {
  const host = byId("residual-charts"), tests = residualTests();
  const boxes = tests.map(() => host.appendChild(html("div", { class: "chart" })));
  tests.forEach((test, n) => chart(boxes[n], () => {
    const values = test.values.map((v, i) => (test.with === null && test.lags[i] === 0 ? 0 : v));  // with itself at lag 0 it is one, always
    const reach = Math.max(2 * test.limit, 1.15 * Math.max(...values.map(Math.abs)));
    const name = test.with === null ? `residual of ${test.of} with its own past` : `residual of ${test.of} with ${test.with}`;
    return {
      series: [{ name: cut(name, 60), x: test.lags, y: values, color: test.passed ? "var(--sifted)" : "var(--warn)", stems: true }],
      limit: test.limit, height: 200,
      x: { label: "lag in samples", low: test.lags[0] - 0.7, high: test.lags[test.lags.length - 1] + 0.7 },
      y: { label: "correlation", low: -reach, high: reach },
      say: (lag) => `lag ${lag}, 99 % limits ±${show(test.limit)}`,
    };
  }));
}

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

// ---- eigenvalues in the unit circle ----------------------------------------------------------------------------------------
function drawEigenvalues() {
  const mine = data.summary.eigenvalues;
  const values = { everything: data.everything.map(nums), sifted: mine.real.map((v, i) => [num(v), num(mine.imaginary[i])]) };
  drawn(byId("eigenvalues"), () => {
    const host = byId("eigenvalues"), sets = [["everything", "var(--everything)", true], ["sifted", "var(--sifted)", false]];
    host.replaceChildren();
    legend(host, sets.map(([name, color, hollow]) => ({ name: `${name} (${values[name].length})`, color, dotOnly: true, hollow })));
    const W = Math.min(440, Math.max(240, host.clientWidth)), reach = 1.15, radius = W / 2 - 8;
    const picture = svg(host, "svg", { viewBox: `0 0 ${W} ${W}`, width: W, height: W, role: "img", "aria-label": "Eigenvalues" });
    const at = (v) => [W / 2 + (v[0] / reach) * radius, W / 2 - (v[1] / reach) * radius];
    svg(picture, "path", { class: "axis", d: `M0 ${W / 2}H${W}M${W / 2} 0V${W}` });
    svg(picture, "circle", { class: "circle", cx: W / 2, cy: W / 2, r: radius / reach });
    svg(picture, "text", { x: at([1, 0])[0] + 8, y: W / 2 + 32 }, "1");
    for (const [name, color, hollow] of sets) {
      values[name].forEach((value, i) => {
        const modulus = Math.hypot(...value);
        if (!Number.isFinite(modulus)) return;
        const far = modulus > reach, [x, y] = at(value.map((v) => (far ? (v * reach) / modulus : v)));
        const dot = far ? svg(picture, "path", { d: `M${x - 5} ${y + 4}l5 -9l5 9z`, fill: hollow ? "none" : color, stroke: color })
          : svg(picture, "circle", { cx: x, cy: y, r: hollow ? 5.5 : 3.5, fill: hollow ? "none" : color, stroke: color, "stroke-width": 1.6 });
        const more = name === "sifted" && mine.residual ? `\nresidual ${show(num(mine.residual[i]))}` : "";
        dot.addEventListener("pointermove", (event) => tell(event,
          `${name}: ${show(value[0])} ${value[1] < 0 ? "−" : "+"} ${show(Math.abs(value[1]))}i\nmodulus ${modulus.toPrecision(5)}${far ? " (drawn at the edge)" : ""}${more}`));
        dot.addEventListener("pointerleave", hush);
      });
    }
  });
}

// ---- step and frequency responses of the step linearised at the mean of the data --------------------------------------------
function responseChart(host, output, values, height, more) {
  const lines = data.inputs.map((name, i) => (
    { name: data.inputs.length > 1 ? `from ${name}` : "", x: more.x, y: values[output][i], color: HUES[i % HUES.length], dash: ["", DASHED, DOTTED][i % 3], width: 2, stepped: more.stepped }));
  const all = lines.flatMap((s) => s.y), low = Math.min(...all), high = Math.max(...all), room = 0.06 * (high - low || 1);
  chart(host.appendChild(html("div", { class: "chart" })), () => ({
    series: lines, height, legend: lines.length > 1, x: more.axis, guides: more.guides,
    y: more.log ? { label: more.label, log: true, low: Math.max(low, high * 1e-6) / 1.3, high: high * 1.3 } : { label: more.label, low: low - room, high: high + room },
    say: more.say,
  }));
}

function drawResponses() {
  const host = byId("responses-charts"), found = data.responses;
  if (!host || !found) return;
  const hertz = { label: "frequency / Hz", log: true, low: found.frequency[0], high: found.frequency[found.frequency.length - 1] };
  const seconds = { label: "seconds after the step", low: 0, high: found.time[found.time.length - 1] };
  data.outputs.forEach((name, o) => {
    const label = data.labels[name];
    responseChart(host, o, found.step, 230, { x: found.time, axis: seconds, label: `${label} per unit of input`, guides: [{ y: 0 }], say: (t) => `${show(t)} s` });
    responseChart(host, o, found.gain, 230, { x: found.frequency, axis: hertz, label: `gain of ${name}`, log: true, say: (f) => `${show(f)} Hz` });
    responseChart(host, o, found.phase, 180, { x: found.frequency, axis: hertz, label: `phase of ${name} / °`, guides: [{ y: -180 }], say: (f) => `${show(f)} Hz` });
  });
}

// ---- all of it ---------------------------------------------------------------------------------------------------------------
drawChannels();
drawSpectra();
drawErrors();
drawRuns();
drawStretches();
drawResiduals();
drawSize();
drawDrives();
drawEigenvalues();
drawResponses();
offerDownloads();
document.documentElement.dataset.ready = "true";
