/** Which tab the address names. */

const START = "#/tab/";
/** The longest tab name that the host takes, in bytes; ours are shorter. */
const MAX_TAB_CHARS = 128;

export function tabOfHash(hash: string): string | null {
  if (!hash.startsWith(START)) return null;
  try {
    const tab = decodeURIComponent(hash.slice(START.length));
    return tab !== "" && tab.length <= MAX_TAB_CHARS ? tab : null;
  } catch {
    return null;
  }
}

export function hashOfTab(tab: string): string {
  return START + encodeURIComponent(tab);
}
