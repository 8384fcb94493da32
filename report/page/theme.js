// Light, dark and paper: who draws by hand draws again when colours change.

const themeListeners = new Set();

/** Calls the listener whenever other colours hold. */
function onTheme(listener) {
  themeListeners.add(listener);
}

function forgetThemeListeners() {
  themeListeners.clear();
}

function watchTheme() {
  const tell = () => {
    for (const listener of themeListeners) listener();
  };
  for (const query of ['(prefers-color-scheme: dark)', 'print']) {
    window.matchMedia(query).addEventListener('change', tell);
  }
}
