/**
 * Pictures: which ones are taken, and how one becomes an address that the page may show. Only four kinds, by their own first
 * bytes, of a bounded size and a bounded number of points. Fetches nothing.
 */
import type { Image } from "../wire";

export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
export const MAX_IMAGES = 8;
/** All pictures of one prompt, in Base64: a frame has 16 MiB, and words need room, too. */
export const MAX_ALL_CHARS = 12 * 1024 * 1024;
/** A small file may hold a picture that fills all memory. */
const MAX_POINTS = 50_000_000;
/** How many bytes of a picture tell its kind and size. */
const HEAD_CHARS = 256 * 1024;

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageKind = (typeof KINDS)[number];

/** What may be picked from the disk. */
export const ACCEPT = KINDS.join(",");

type Head = { kind: ImageKind; width: number; height: number };

/** What a file is by its first bytes; null for what is no picture that we take. */
export function headOf(bytes: Uint8Array): Head | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number, length: number) => String.fromCharCode(...bytes.subarray(at, at + length));
  try {
    if (word(0, 8) === "\u0089PNG\r\n\u001a\n")
      return { kind: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
    if (/^GIF8[79]a$/.test(word(0, 6)))
      return { kind: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (word(0, 4) === "RIFF" && word(8, 4) === "WEBP") return webp(view, word(12, 4));
    if (word(0, 3) === "\u00ff\u00d8\u00ff") return jpeg(view);
  } catch {
    // It ends before it has said what it is.
  }
  return null;
}

function webp(view: DataView, form: string): Head | null {
  const kind = "image/webp";
  const small = (at: number) =>
    view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
  if (form === "VP8X") return { kind, width: small(24) + 1, height: small(27) + 1 };
  if (form === "VP8L") {
    const bits = view.getUint32(21, true);
    return { kind, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (form !== "VP8 ") return null;
  return { kind, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

/** The size stands in the frame's own head, behind others of any length. */
function jpeg(view: DataView): Head | null {
  for (let at = 2; at < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const mark = view.getUint8(at + 1);
    const frame = mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark);
    if (frame) return { kind: "image/jpeg", width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += mark === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/** Why a picture is not taken, in words that say what to do; or the picture. */
export function imageOf(name: string, bytes: Uint8Array): Image | string {
  if (bytes.length > MAX_IMAGE_BYTES)
    return `${name} has ${megabytes(bytes.length)}; a picture may have ${megabytes(MAX_IMAGE_BYTES)}. Make it smaller first.`;
  const head = headOf(bytes);
  if (!head) return `${name} is no picture that agents can see; PNG, JPEG, GIF and WebP are.`;
  if (head.width * head.height > MAX_POINTS)
    return `${name} has ${String(head.width)} × ${String(head.height)} points, which is too many. Make it smaller first.`;
  return { mime: head.kind, data: toBase64(bytes) };
}

/** Whether these go with one prompt; why not, in words. */
export function tooMany(images: readonly Image[]): string | null {
  if (images.length > MAX_IMAGES) return `At most ${String(MAX_IMAGES)} pictures go with one prompt.`;
  const chars = images.reduce((sum, image) => sum + image.data.length, 0);
  return chars > MAX_ALL_CHARS
    ? "These pictures are too large together for one prompt. Send fewer at a time."
    : null;
}

const addresses = new WeakMap<Image, string | null>();

/** The address that shows a picture; null for one that must not or cannot be shown. */
export function imageAddress(image: Image): string | null {
  let address = addresses.get(image);
  if (address === undefined) {
    address = makeAddress(image);
    addresses.set(image, address);
  }
  return address;
}

function makeAddress({ data }: Image): string | null {
  if (data.length > MAX_ALL_CHARS || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return null;
  let head: Head | null;
  try {
    head = headOf(fromBase64(data.slice(0, HEAD_CHARS - (HEAD_CHARS % 4))));
  } catch {
    return null;
  }
  // What it is counts, not what it is called.
  if (!head || head.width * head.height > MAX_POINTS) return null;
  return `data:${head.kind};base64,${data}`;
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In parts that fit a call's arguments.
  for (let at = 0; at < bytes.length; at += 32_768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
