// Loads a live page's modules, all at once. A browser runs this when the style sheets are there: on a slow network the
// modules, which a first sight does not need, would hold them up.

for (const path of document.getElementById("live").dataset.scripts.split(" ")) import(path);
