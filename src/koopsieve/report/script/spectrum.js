// ---- eigenvalues in the unit circle ----------------------------------------------------------------------------------------
function drawEigenvalues() {
  drawn(byId("eigenvalues"), () => {
    const host = byId("eigenvalues"), sets = [["everything", "var(--everything)", true], ["sifted", "var(--sifted)", false]];
    host.replaceChildren();
    legend(host, sets.map(([name, color, hollow]) => ({ name: `${name} (${data.eigenvalues[name].values.length})`, color, dotOnly: true, hollow })));
    const W = Math.min(440, Math.max(240, host.clientWidth)), reach = 1.15, radius = W / 2 - 8;
    const picture = svg(host, "svg", { viewBox: `0 0 ${W} ${W}`, width: W, height: W, role: "img", "aria-label": "Eigenvalues" });
    const at = (v) => [W / 2 + (v[0] / reach) * radius, W / 2 - (v[1] / reach) * radius];
    svg(picture, "path", { class: "axis", d: `M0 ${W / 2}H${W}M${W / 2} 0V${W}` });
    svg(picture, "circle", { class: "circle", cx: W / 2, cy: W / 2, r: radius / reach });
    svg(picture, "text", { x: at([1, 0])[0] + 8, y: W / 2 + 32 }, "1");
    for (const [name, color, hollow] of sets) {
      data.eigenvalues[name].values.forEach((raw, i) => {
        const value = nums(raw), modulus = Math.hypot(...value);
        if (!Number.isFinite(modulus)) return;
        const far = modulus > reach, [x, y] = at(value.map((v) => (far ? (v * reach) / modulus : v)));
        const dot = far ? svg(picture, "path", { d: `M${x - 5} ${y + 4}l5 -9l5 9z`, fill: hollow ? "none" : color, stroke: color })
          : svg(picture, "circle", { cx: x, cy: y, r: hollow ? 5.5 : 3.5, fill: hollow ? "none" : color, stroke: color, "stroke-width": 1.6 });
        const residual = data.eigenvalues[name].residuals, more = residual ? `\nresidual ${show(num(residual[i]))}` : "";
        dot.addEventListener("pointermove", (event) => tell(event,
          `${name}: ${show(value[0])} ${value[1] < 0 ? "−" : "+"} ${show(Math.abs(value[1]))}i\nmodulus ${modulus.toPrecision(5)}${far ? " (drawn at the edge)" : ""}${more}`));
        dot.addEventListener("pointerleave", hush);
      });
    }
  });
}
