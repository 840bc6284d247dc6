// ---- error against horizon -------------------------------------------------------------------------------------------------
const HUES = ["var(--hue1)", "var(--hue2)", "var(--hue3)", "var(--hue4)", "var(--hue5)", "var(--hue6)"];
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
