import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds a running evertty; the built page always talks to its own origin. */
const devServer = "http://127.0.0.1:3000";

export default defineConfig({
  // Relative addresses, so that the page also works below a path of a reverse proxy.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // public/.keep puts the committed placeholder back after the folder was emptied; go:embed needs one file.
    emptyOutDir: true,
    // The Content-Security-Policy forbids inline scripts and fonts, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // In kB: xterm.js and its WebGL renderer, which every page needs at once, so one file is right.
    chunkSizeWarningLimit: 700,
    license: { fileName: "licenses.md" },
  },
  server: {
    proxy: {
      "/ws": { target: devServer, ws: true, changeOrigin: true, rewriteWsOrigin: true, headers: { origin: devServer } },
      "/session": { target: devServer, changeOrigin: true, headers: { origin: devServer } },
      "/api": { target: devServer, changeOrigin: true, headers: { origin: devServer } },
      "/version": { target: devServer },
    },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
