/** The one question that is asked before a folder is trusted, wherever the person came from. */
import { revealed } from "../model/words";
import type { Page } from "../page";
import { confirmed } from "./confirm";

export async function askTrust(page: Page, root: string): Promise<void> {
  const sure = await confirmed({
    title: "Trust this folder?",
    exact: revealed(root),
    text: "Its configuration may name programs, and agents may then run commands and change files in it. Trust it only if you know where it comes from.",
    yes: "Trust this folder",
  });
  if (sure) page.trust(root, true);
}
