// How the page is built. What comes out runs under the policy of crates/host/src/server/page.rs: no inline script or
// style, no eval, no WebAssembly, and only the named Trusted Types policies; scripts carry the nonce that the host puts
// in place of NONCE in each answer.
import { defineConfig } from "vite";

const NONCE = "__NONCE__";

/** Where a running host listens, for `npm run dev`; the browser's own login with that host is what lets it in. */
const host = process.env["SWITCHBOARD_URL"] ?? "http://127.0.0.1:7171";

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  publicDir: false,
  html: { cspNonce: NONCE },
  build: {
    target: "es2022",
    // Cargo's build names its own folder; this one is for a bare `npm run build`.
    outDir: "../target/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
    chunkSizeWarningLimit: 1024,
  },
  server: {
    host: "127.0.0.1",
    strictPort: true,
    // The host lets in its own page only; to it, this one is.
    proxy: {
      "/ws": { target: host, ws: true, changeOrigin: true, rewriteWsOrigin: true },
      "/wire": { target: host, changeOrigin: true, headers: { origin: host } },
    },
  },
});
