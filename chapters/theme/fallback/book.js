// Stands in for mdBook's own book.js where its package leaves that out (mdBook 0.4.48 as Debian 13 has it):
// coloured code, the theme menu, a sidebar that is remembered. scripts/build-book.sh puts it in place.
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = { ayu: "ayu-highlight-css", coal: "tomorrow-night-css", navy: "tomorrow-night-css" };
  const sheets = ["highlight-css", "tomorrow-night-css", "ayu-highlight-css"];

  function stored(key, value) {
    try {
      if (value === undefined) { return localStorage.getItem(key); }
      localStorage.setItem(key, value);
    } catch (e) { /* storage may be forbidden: then nothing is remembered */ }
    return null;
  }

  function currentTheme() {
    return stored("mdbook-theme") || default_theme;
  }

  function showTheme(theme) {
    root.classList.remove("light", "rust", "coal", "navy", "ayu");
    root.classList.add(theme);
    for (const id of sheets) {
      document.getElementById(id).disabled = id !== (dark[theme] || "highlight-css");
    }
  }

  function colourCode() {
    for (const code of document.querySelectorAll("pre code")) {
      const named = Array.from(code.classList).find((name) => name.startsWith("language-"));
      if (named && hljs.getLanguage(named.slice("language-".length))) { hljs.highlightBlock(code); }
      code.classList.add("hljs");
    }
    for (const code of document.querySelectorAll(":not(pre) > code")) { code.classList.add("hljs"); }
  }

  function themeMenu() {
    const button = document.getElementById("theme-toggle");
    const list = document.getElementById("theme-list");
    function open(yes) {
      list.style.display = yes ? "block" : "none";
      button.setAttribute("aria-expanded", String(yes));
    }
    button.addEventListener("click", () => open(list.style.display !== "block"));
    list.addEventListener("click", (event) => {
      const choice = event.target.closest("button.theme");
      if (!choice) { return; }
      if (choice.id === "default_theme") {
        try { localStorage.removeItem("mdbook-theme"); } catch (e) { /* as above */ }
      } else {
        stored("mdbook-theme", choice.id);
      }
      showTheme(currentTheme());
      open(false);
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest("#theme-toggle, #theme-list")) { open(false); }
    });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") { open(false); } });
  }

  function sidebar() {
    const box = document.getElementById("sidebar-toggle-anchor");
    box.addEventListener("change", () => {
      const state = box.checked ? "visible" : "hidden";
      root.classList.remove("sidebar-visible", "sidebar-hidden");
      root.classList.add("sidebar-" + state);
      stored("mdbook-sidebar", state);
      document.getElementById("sidebar-toggle").setAttribute("aria-expanded", String(box.checked));
      document.getElementById("sidebar").setAttribute("aria-hidden", String(!box.checked));
      for (const link of document.querySelectorAll("#sidebar a")) { link.tabIndex = box.checked ? 0 : -1; }
    });
  }

  showTheme(currentTheme());
  colourCode();
  themeMenu();
  sidebar();
})();
