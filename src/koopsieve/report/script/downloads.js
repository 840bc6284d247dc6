// ---- downloads, made here from what the page holds ---------------------------------------------------------------------------
const cell = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value));
const safe = (value) => (typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value);  // no spreadsheet takes it for a formula
const csv = (rows) => rows.map((row) => row.map(safe).map(cell).join(",")).join("\n") + "\n";

function save(name, text, type) {
  const link = html("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function matrixCsv(matrix) {
  const values = unpack(matrix.values, 8), width = matrix.columns.length;
  return csv([["", ...matrix.columns], ...matrix.rows.map((name, i) => [name, ...values.slice(i * width, (i + 1) * width)])]);
}

function termsCsv() {
  const terms = data.summary.coefficients;
  const head = ["term", "formula", ...data.outputs.map((o) => `coefficient for ${o}`), ...data.outputs.map((o) => `probability for ${o}`)];
  return csv([head, ...terms.map((t) => [t.name, t.formula, ...data.outputs.map((o) => t.coefficient[o]), ...data.outputs.map((o) => t.probability[o] ?? "")])]);
}

function predictionsCsv() {
  const head = ["episode", "sample", "time", ...data.inputs, ...data.outputs, ...record.runs.flatMap((run) => data.outputs.map((o) => `${o}, ${run}`))];
  const rows = [head];
  record.parts.forEach((described, n) => {
    const part = partAt(n), plain = (v) => (Number.isFinite(v) ? +v.toPrecision(7) : "");
    part.time.forEach((t, k) => rows.push([
      described.episode + 1, record.first + k, +t.toPrecision(12), ...part.inputs.map((u) => (k < u.length ? plain(u[k]) : "")), ...part.outputs.map((y) => plain(y[k])),
      ...record.runs.flatMap((run) => part.runs[run].map((y) => plain(y[k]))),
    ]));
  });
  return csv(rows);
}

function offerDownloads() {
  const host = byId("downloads"), offer = (name, make, type) => {
    const button = html("button", { type: "button", "data-file": name }, name);
    button.addEventListener("click", () => save(name, make(), type || "text/csv"));
    host.appendChild(button);
  };
  for (const [name, matrix] of Object.entries(data.matrices || {})) offer(`${name.replace(/[^\w.-]+/g, "_")}.csv`, () => matrixCsv(matrix));
  offer("terms.csv", termsCsv);
  offer("predictions.csv", predictionsCsv);
  offer("summary.json", () => JSON.stringify(data.summary, null, 2) + "\n", "application/json");
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", () => {
      const text = byId(button.dataset.copy).textContent;
      const done = () => { button.textContent = "copied"; setTimeout(() => { button.textContent = "copy"; }, 2000); };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => selectText(byId(button.dataset.copy)));
      else selectText(byId(button.dataset.copy));
    });
  }
}

function selectText(node) {
  const chosen = document.createRange();
  chosen.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(chosen);
}
