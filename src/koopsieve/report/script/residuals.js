// ---- residuals: correlation with their own past and with the inputs ----------------------------------------------------------
function drawResiduals() {
  const host = byId("residual-charts");
  const boxes = data.residuals.map(() => host.appendChild(html("div", { class: "chart" })));
  data.residuals.forEach((test, n) => chart(boxes[n], () => {
    const values = test.value.map((v, i) => (test.with === null && test.lags[i] === 0 ? 0 : v));  // with itself at lag 0 it is one, always
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
