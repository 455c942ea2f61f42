// The colours: light, dark or the system's; remembered if the browser lets a file remember.

const THEMES = { system: ["◐", "Auto"], light: ["☀", "Light"], dark: ["☾", "Dark"] };

function readTheme() {
  try {
    return localStorage.getItem("rewardkit-theme") ?? "system";
  } catch {
    return "system";  // the browser denies this page its storage
  }
}

function applyTheme(chosen) {
  const theme = Object.hasOwn(THEMES, chosen) ? chosen : "system";
  document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  const [sign, name] = THEMES[theme];
  button.replaceChildren(sign, make("span", {}, ` ${name}`));
  button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  return theme;
}

function openTheme() {
  let theme = applyTheme(readTheme());
  byId("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme = applyTheme(names[(names.indexOf(theme) + 1) % names.length]);
    try {
      localStorage.setItem("rewardkit-theme", theme);
    } catch {
      // the theme then lasts until the page is closed
    }
  });
}
