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
document.documentElement.dataset.ready = "true";
