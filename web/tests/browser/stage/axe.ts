/** What the accessibility checker finds in a window, in words that lead to the place. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  impact: string | null;
  nodes: { target: unknown; failureSummary?: string }[];
}

/** Findings that keep people out; the rest is advice. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(source);
  // What still fades in has the colours of neither before nor after.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((moving) => moving.finished.catch(() => null))),
  );
  const findings = await page.evaluate<Finding[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations)`,
  );
  return findings
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) =>
      [
        id,
        ...nodes.slice(0, 5).map((node) => `${JSON.stringify(node.target)} ${node.failureSummary ?? ""}`),
      ].join("\n"),
    );
}
