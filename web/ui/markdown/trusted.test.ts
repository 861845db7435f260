import { expect, it } from "vitest";
import { toHtml } from "./parse";
import { MAX_IMAGE_CHARS, sanitised } from "./trusted";

function drawn(markdown: string): string {
  const box = document.createElement("div");
  box.append(sanitised(toHtml(markdown)));
  return box.innerHTML;
}

it("raw HTML is text", () => {
  expect(drawn("<script>alert(1)</script> <b onclick=x>hi</b>")).toBe(
    "<p>&lt;script&gt;alert(1)&lt;/script&gt; &lt;b onclick=x&gt;hi&lt;/b&gt;</p>\n",
  );
});

it("what slips through the parser is still tame", () => {
  const box = document.createElement("div");
  box.append(
    sanitised(
      '<p style="color:red" onclick="x()" class="path evil" data-x="1">a<svg><script>1</script></svg><math></math>' +
        '<iframe src="//e"></iframe><img src="https://evil.example/x.png"><a href="javascript:x()">b</a><style>*{}</style></p>',
    ),
  );
  expect(box.innerHTML).toBe('<p class="path">a<img><a>b</a></p>');
});

it("only plain addresses become links, and say where they lead", () => {
  expect(drawn("[a](https://example.com/x) <mailto:a@b.c> https://bare.example/y")).toBe(
    '<p><a href="https://example.com/x" title="https://example.com/x">a</a> ' +
      '<a href="mailto:a@b.c" title="mailto:a@b.c">mailto:a@b.c</a> ' +
      '<a href="https://bare.example/y" title="https://bare.example/y">https://bare.example/y</a></p>\n',
  );
  for (const bad of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "vbscript:x",
    "data:text/html,x",
    "file:///etc/passwd",
  ]) {
    expect(drawn(`[a](${bad})`)).not.toContain("<a");
  }
});

it("files of the workspace are named, not linked", () => {
  expect(drawn("[main](./src/main.rs) and README.md")).toBe(
    '<p><span class="path" title="./src/main.rs">main</span> and README.md</p>\n',
  );
});

it("a picture from elsewhere is never fetched: its address is shown", () => {
  const html = drawn("![cat](https://evil.example/cat.png)");
  expect(html).not.toContain("<img");
  expect(html).toContain("cat — https://evil.example/cat.png</a>");
});

it("a small picture inside the text is drawn, a large one is not", () => {
  expect(drawn("![dot](data:image/png;base64,iVBORw0KGgo=)")).toBe(
    '<p><img src="data:image/png;base64,iVBORw0KGgo=" alt="dot"></p>\n',
  );
  expect(drawn(`![big](data:image/png;base64,${"A".repeat(MAX_IMAGE_CHARS)})`)).not.toContain("<img");
  expect(drawn("![svg](data:image/svg+xml;base64,PHN2Zz4=)")).not.toContain("<img");
});

it("cells are aligned by class, since styles are not allowed", () => {
  const html = drawn("| a | b |\n| :-: | --: |\n| 1 | 2 |");
  expect(html).toContain('<th class="align-center">a</th>');
  expect(html).toContain('<td class="align-right">2</td>');
  expect(html).not.toContain("style=");
});
