// Two projects: `unit` runs beside the code in a made-up document, `browser` drives a real one against a real host.
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    projects: [
      {
        test: {
          name: "unit",
          environment: "jsdom",
          include: ["ui/**/*.test.ts"],
        },
      },
      {
        test: {
          name: "browser",
          environment: "node",
          include: ["tests/browser/**/*.test.ts"],
          // One host and one browser at a time: the tests are about words, not about load.
          fileParallelism: false,
          // A busy machine takes its time; what never comes still fails.
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
