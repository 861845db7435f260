/** Joins the model to this browser and puts the one root element into the document. */
import { Drafts } from "./edges/drafts";
import { outboxKeep, shelf } from "./edges/keep";
import type { OpenLink } from "./edges/link";
import { Prefs } from "./edges/prefs";
import type { OpenTools } from "./edges/tools";
import { NewTabs } from "./model/newtabs";
import { hashOfPlace, placeOfHash } from "./model/place";
import { Page } from "./page";
import { SbApp } from "./parts/sb-app";
import { tokens } from "./theme/tokens";
import { VERSION } from "./wire";

/** How often a hidden page draws; only its title can be seen. */
const HIDDEN_FRAME_MS = 500;

export function start(openLink: OpenLink, openTools: OpenTools, isLetIn: () => Promise<boolean>): Page {
  const lasting = shelf("localStorage");
  const own = shelf("sessionStorage");
  const page = new Page({
    openLink,
    openTools,
    letIn: isLetIn,
    keep: outboxKeep(lasting),
    newTabs: new NewTabs({
      load: () => own.get("newtabs"),
      save: (value) => {
        own.put("newtabs", value);
      },
      loadShared: () => lasting.get("newtab"),
      saveShared: (tab) => {
        if (tab === null) lasting.drop("newtab");
        else lasting.put("newtab", tab);
      },
    }),
    drafts: new Drafts(lasting, Date.now),
    prefs: new Prefs(lasting, document.documentElement),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    frame: (draw) => {
      // A page that is hidden, or becomes so before the frame, gets none.
      const timer = setTimeout(run, document.hidden ? HIDDEN_FRAME_MS : 2 * HIDDEN_FRAME_MS);
      const frame = requestAnimationFrame(run);
      function run() {
        clearTimeout(timer);
        cancelAnimationFrame(frame);
        draw();
      }
    },
    later: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => {
        clearTimeout(timer);
      };
    },
    version: VERSION,
  });
  page.onPlace = () => {
    history.replaceState(null, "", hashOfPlace({ tab: page.active, settings: page.settingsOpen }));
  };

  if (tokens.styleSheet) document.adoptedStyleSheets = [...document.adoptedStyleSheets, tokens.styleSheet];
  const app = new SbApp();
  app.page = page;
  document.body.replaceChildren(app);

  const wake = () => {
    page.wake();
  };
  window.addEventListener("online", wake);
  window.addEventListener("focus", wake);
  window.addEventListener("pageshow", wake);
  document.addEventListener("visibilitychange", () => {
    page.setVisible(!document.hidden);
  });
  window.addEventListener("hashchange", () => {
    const { tab, settings } = placeOfHash(location.hash);
    if (tab !== null && tab !== page.active) page.show(tab);
    page.openSettings(settings);
  });
  page.setVisible(!document.hidden);
  const { tab, settings } = placeOfHash(location.hash);
  page.settingsOpen = settings;
  page.start(tab);
  return page;
}
