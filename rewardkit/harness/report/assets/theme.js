// Light, dark, or as the system says; remembered where the browser lets a file remember.

const THEMES = { system: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

function readTheme() {
  try {
    return localStorage.getItem("rewardkit-theme") ?? "system";
  } catch {
    return "system";  // storage is closed to this page
  }
}

function wearTheme(theme) {
  const known = Object.hasOwn(THEMES, theme) ? theme : "system";
  document.documentElement.dataset.theme = known;
  const button = byId("theme");
  button.textContent = THEMES[known];
  button.setAttribute("aria-label", `Colours: ${known}. Change`);
  return known;
}

function openTheme() {
  let theme = wearTheme(readTheme());
  byId("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme = wearTheme(names[(names.indexOf(theme) + 1) % names.length]);
    try {
      localStorage.setItem("rewardkit-theme", theme);
    } catch {
      // the choice then lasts as long as the page
    }
  });
}
