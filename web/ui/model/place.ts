/** What the address names: a tab, and whether the settings lie over it. */

const START = "#/tab/";
const SETTINGS = "/settings";
/** The longest tab name that the host takes, in bytes; ours are shorter. */
const MAX_TAB_CHARS = 128;

export type Place = { tab: string | null; settings: boolean };

/** `#/tab/NAME`, `#/tab/NAME/settings`, or, for whoever knows no tab, `#/settings` and `#settings`. */
export function placeOfHash(hash: string): Place {
  if (hash === `#${SETTINGS}` || hash === "#settings") return { tab: null, settings: true };
  if (!hash.startsWith(START)) return { tab: null, settings: false };
  // A slash within a name is written in another way.
  const settings = hash.endsWith(SETTINGS);
  const name = hash.slice(START.length, settings ? -SETTINGS.length : undefined);
  try {
    const tab = decodeURIComponent(name);
    return { tab: tab !== "" && tab.length <= MAX_TAB_CHARS ? tab : null, settings };
  } catch {
    return { tab: null, settings };
  }
}

export function hashOfPlace({ tab, settings }: Place): string {
  const end = settings ? SETTINGS : "";
  return tab === null ? `#${end}` : START + encodeURIComponent(tab) + end;
}
