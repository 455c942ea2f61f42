// Loads the table again when it has changed; the run that had the focus has it again. The colours are those that
// the reader chose in a report.
(() => {
"use strict";
const { tag, seconds } = document.documentElement.dataset;
document.documentElement.dataset.theme = localStorage.getItem("rewardkit-theme") ?? "system";
const focused = sessionStorage.getItem("rewardkit-focus");
const link = [...document.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused);
link?.focus({ preventScroll: true });
setInterval(async () => {
  const reply = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!reply?.ok || reply.headers.get("ETag") === `"${tag}"`) return;
  sessionStorage.setItem("rewardkit-focus", document.activeElement?.getAttribute("href") ?? "");
  location.reload();
}, 1000 * seconds);
})();
