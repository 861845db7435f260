import { describe, expect, it } from "vitest";
import { headOf, imageAddress, imageOf, MAX_ALL_CHARS, MAX_IMAGE_BYTES, tooMany } from "./image";

const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "string" ? [...part].map((char) => char.charCodeAt(0)) : part)),
  );
const png = (width: number, height: number) =>
  bytes("\u0089PNG\r\n\u001a\n", [0, 0, 0, 13], "IHDR", be(width), be(height), [8, 6, 0, 0, 0]);
const be = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255);
const base64 = (raw: Uint8Array) => btoa(String.fromCharCode(...raw));

describe("a file's own first bytes", () => {
  it("tell its kind and its size", () => {
    expect(headOf(png(640, 480))).toEqual({ kind: "image/png", width: 640, height: 480 });
    expect(headOf(bytes("GIF89a", [10, 0, 20, 0]))).toEqual({ kind: "image/gif", width: 10, height: 20 });
    const jpeg = bytes([255, 216, 255, 224, 0, 4, 1, 2, 255, 192, 0, 11, 8, 0, 30, 0, 40]);
    expect(headOf(jpeg)).toEqual({ kind: "image/jpeg", width: 40, height: 30 });
    const webp = bytes("RIFF", [0, 0, 0, 0], "WEBPVP8X", [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]);
    expect(headOf(webp)).toEqual({ kind: "image/webp", width: 100, height: 50 });
  });

  it("betray what is no picture, or only its beginning", () => {
    for (const raw of [bytes("<svg onload=alert(1)>"), bytes("GIF8"), bytes([255, 216, 255]), bytes("")])
      expect(headOf(raw)).toBeNull();
  });
});

describe("a picture for a prompt", () => {
  it("is taken by what it is, not by what it is called", () => {
    expect(imageOf("x.svg", png(2, 2))).toEqual({ mime: "image/png", data: base64(png(2, 2)) });
    expect(imageOf("x.png", bytes("no picture"))).toMatch(/^x\.png is no picture/);
  });

  it("is refused in words if it is too large in bytes or points", () => {
    expect(imageOf("x.png", new Uint8Array(MAX_IMAGE_BYTES + 1))).toMatch(/5\.0 MB/);
    expect(imageOf("x.png", png(100_000, 100_000))).toMatch(/too many/);
  });

  it("has a bounded company", () => {
    const one = { mime: "image/png", data: "AAAA" };
    expect(tooMany(Array.from({ length: 8 }, () => one))).toBeNull();
    expect(tooMany(Array.from({ length: 9 }, () => one))).toMatch(/At most 8/);
    expect(tooMany([{ mime: "image/png", data: "A".repeat(MAX_ALL_CHARS + 1) }])).toMatch(/together/);
  });
});

describe("a picture from elsewhere", () => {
  it("gets an address of its true kind", () => {
    const data = base64(png(2, 2));
    expect(imageAddress({ mime: "text/html", data })).toBe(`data:image/png;base64,${data}`);
  });

  it("gets none if it is no picture, no Base64, or would fill all memory", () => {
    for (const data of [btoa("<svg/>"), '"><script>', "", "AAAA=AAAA", base64(png(60_000, 60_000))])
      expect(imageAddress({ mime: "image/png", data })).toBeNull();
  });
});
