// Loads a live page's scripts. A browser runs this when the style sheets are there: on a slow network the scripts, which
// a first sight does not need, would hold them up.

for (const path of document.getElementById("live").dataset.scripts.split(" ")) import(path);
