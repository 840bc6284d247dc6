// ---- step and frequency responses of the step linearised at the mean of the data --------------------------------------------
function responseChart(host, output, values, height, more) {
  const found = data.responses, lines = data.inputs.map((name, i) => (
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
