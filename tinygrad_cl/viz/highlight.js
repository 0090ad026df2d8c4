// Highlights OpenCL C in the Python strings of this page's cells, in JupyterLab 4 and Notebook 7. The editor gives such a
// string one colour. This script finds the tokens in it and colours them with the CSS Custom Highlight API, so neither the
// editor's page nor its text changes. A browser without that API shows no colours.
(() => {
  if (!window.CSS?.highlights || window.colourKernels) return;

  const KINDS = [
    ["comment", "//[^\\n]*|/\\*[\\s\\S]*?\\*/"],
    ["keyword", "(?<=^[ \\t]*)#(?!#)[ \\t]*\\w+|\\b(?:__kernel|__global|__local|__constant|__private|kernel|global|local|const" +
                "|restrict|if|else|for|while|do|return|break|continue|struct|typedef|volatile|inline|static)\\b"],
    ["type", "\\b(?:void|bool|size_t|u?(?:char|short|int|long)(?:2|3|4|8|16)?|(?:half|float|double)(?:2|3|4|8|16)?)\\b"],
    ["number", "\\b(?:0x[\\da-fA-F]+|\\d+\\.?\\d*(?:[eE][-+]?\\d+)?)[fFuUlL]*|\\b[A-Z][A-Z0-9_]{2,}\\b"],
    ["function", "\\b[a-z_]\\w*(?=[ \\t]*\\()"],
  ];
  const WORDS = new RegExp(KINDS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "gm");
  const TEXT = /("""|''')([\s\S]*?)(?:\1|$)/g;

  const style = document.createElement("style");
  const colours = {text: "variable", comment: "comment", keyword: "keyword", type: "variable-3", number: "number",
                   function: "def"};
  style.textContent = Object.entries(colours)
    .map(([kind, name]) => `::highlight(kernel-${kind}) { color: var(--jp-mirror-editor-${name}-color); }`).join("\n");
  document.head.append(style);

  // The text of an editor, and for each of its lines the pieces of text in the page.
  function read(editor) {
    const pieces = [];
    let text = "";
    for (const line of editor.querySelectorAll(".cm-line")) {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode()); text += node.data) pieces.push([text.length, node]);
      text += "\n";
    }
    return [text, pieces];
  }

  function place(pieces, at) {
    let low = 0, high = pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pieces[middle][0] <= at) low = middle; else high = middle - 1;
    }
    return [pieces[low][1], Math.min(at - pieces[low][0], pieces[low][1].length)];
  }

  function range(pieces, from, to) {
    const made = new Range(), [node, offset] = place(pieces, to - 1);
    made.setStart(...place(pieces, from));
    made.setEnd(node, Math.min(offset + 1, node.length));
    return made;
  }

  function colour() {
    const found = Object.fromEntries(Object.keys(colours).map((kind) => [kind, new Highlight()]));
    found.text.priority = -1;
    for (const editor of document.querySelectorAll(".jp-CodeCell .cm-content")) {
      const [text, pieces] = read(editor);
      if (!pieces.length || !text.includes("__kernel")) continue;
      for (const string of text.matchAll(TEXT)) {
        if (!string[2].includes("__kernel")) continue;
        const begin = string.index + 3;
        found.text.add(range(pieces, begin, begin + string[2].length));
        for (const word of string[2].matchAll(WORDS)) {
          const kind = Object.keys(word.groups).find((name) => word.groups[name] !== undefined);
          found[kind].add(range(pieces, begin + word.index, begin + word.index + word[0].length));
        }
      }
    }
    for (const [kind, highlight] of Object.entries(found)) CSS.highlights.set(`kernel-${kind}`, highlight);
  }

  let waiting = false;
  window.colourKernels = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; colour(); });
  };
  const inCell = (node) => (node.closest ? node : node.parentElement)?.closest(".jp-Notebook");
  new MutationObserver((changes) => changes.some((change) => inCell(change.target)) && window.colourKernels())
    .observe(document.body, {childList: true, subtree: true, characterData: true});
  window.colourKernels();
})();
