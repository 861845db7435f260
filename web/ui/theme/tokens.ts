/**
 * The page's colours, sizes and type, as custom properties. Inside VS Code its own variables win; elsewhere ours hold,
 * light or dark as the system or the person says. Every pair of text and ground has a contrast of 4.5 or more.
 */
import { css } from "lit";

export const tokens = css`
  :root {
    color-scheme: light dark;

    --sb-canvas: var(--vscode-sideBar-background, light-dark(#fcfcfb, #17181b));
    --sb-panel: var(--vscode-sideBarSectionHeader-background, light-dark(#f5f5f4, #1d1f23));
    --sb-raised: var(--vscode-input-background, light-dark(#ffffff, #222429));
    --sb-soft: var(--vscode-list-hoverBackground, light-dark(#ecece8, #2a2d33));
    --sb-bubble: var(--vscode-textBlockQuote-background, light-dark(#f0f0ec, #25282e));
    --sb-line: var(--vscode-panel-border, light-dark(#dfdfd9, #34373e));
    --sb-line-strong: var(--vscode-input-border, light-dark(#86867f, #70757f));

    --sb-text: var(--vscode-foreground, light-dark(#1f2227, #e7e8ea));
    --sb-muted: var(--vscode-descriptionForeground, light-dark(#5a6069, #a4aab4));
    --sb-link: var(--vscode-textLink-foreground, light-dark(#2b50c8, #93abff));

    --sb-accent: var(--vscode-button-background, light-dark(#3152c9, #9db2ff));
    --sb-on-accent: var(--vscode-button-foreground, light-dark(#ffffff, #11141d));
    --sb-accent-soft: light-dark(#e9edfb, #262c42);
    --sb-focus: var(--vscode-focusBorder, light-dark(#3152c9, #9db2ff));

    --sb-ok: var(--vscode-testing-iconPassed, light-dark(#1b7a3d, #74d196));
    --sb-warn: var(--vscode-editorWarning-foreground, light-dark(#855600, #e9b860));
    --sb-warn-soft: light-dark(#fdf4e0, #332a18);
    --sb-danger: var(--vscode-errorForeground, light-dark(#b3261e, #ff9a90));
    --sb-danger-soft: light-dark(#fdeeec, #3a2120);
    --sb-ok-soft: light-dark(#e8f5ec, #1b3024);

    --sb-mark: light-dark(#fbe6a2, #5b4a17);
    --sb-code: var(--vscode-textCodeBlock-background, light-dark(#f5f5f2, #1e2025));
    --sb-add-mark: light-dark(#b4e5c4, #2f6145);
    --sb-del-mark: light-dark(#f8c9c4, #75393a);
    --tk-plain: var(--sb-text);
    --tk-comment: light-dark(#63696f, #9aa1ab);
    --tk-string: light-dark(#0f6b45, #8fd6a5);
    --tk-number: light-dark(#9a4a00, #f0b27a);
    --tk-keyword: light-dark(#8b2fae, #d7a4f2);
    --tk-operator: light-dark(#5a6069, #b3b9c3);
    --tk-function: light-dark(#2450b8, #94b2ff);
    --tk-type: light-dark(#0b6a7c, #7fd0de);
    --tk-name: light-dark(#a3283a, #f2a0a8);
    --tk-inserted: var(--sb-ok);
    --tk-deleted: var(--sb-danger);
    --tk-section: var(--tk-type);

    --sb-font: var(
      --vscode-font-family,
      system-ui,
      -apple-system,
      "Segoe UI",
      "Noto Sans",
      Ubuntu,
      Cantarell,
      sans-serif
    );
    --sb-mono: var(
      --vscode-editor-font-family,
      ui-monospace,
      "SF Mono",
      "Cascadia Code",
      "JetBrains Mono",
      "Noto Sans Mono",
      Menlo,
      Consolas,
      monospace
    );
    --sb-size: var(--vscode-font-size, 15px);
    --sb-radius: 10px;
    --sb-column: 46rem;
  }

  :root[data-theme="light"] {
    color-scheme: light;
  }
  :root[data-theme="dark"] {
    color-scheme: dark;
  }

  html,
  body {
    height: 100%;
    margin: 0;
    background: var(--sb-canvas);
    color: var(--sb-text);
    font: var(--sb-size) / 1.55 var(--sb-font);
    overflow: hidden;
    -webkit-text-size-adjust: 100%;
  }
`;
