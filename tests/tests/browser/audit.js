// Returns a list of a page's accessibility problems, for people who cannot see well, have no mouse,
// or have a small screen.
(() => {
  const wrong = [];
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const name = element => `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> "${element.textContent.trim().slice(0, 40)}"`;
  const isShown = element => element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true });

  if (document.scripts.length > 0) wrong.push("there is a script");
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = all("body *").filter(element => isShown(element) && !element.closest("svg *, .scrolled *") && element.getBoundingClientRect().right > innerWidth + 0.5);
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide on a screen of ${innerWidth}: ${wide.slice(0, 5).map(name)}`);
  }

  for (const table of all("table.cases, table.comparison").filter(isShown)) {
    const room = table.parentElement.clientWidth;
    if (table.scrollWidth > room) wrong.push(`a table is ${table.scrollWidth} wide in a space of ${room}: ${name(table)}`);
  }

  for (const svg of all("svg")) {
    const isNamed = svg.getAttribute("role") === "img" && svg.getAttribute("aria-label");
    if (!isNamed && svg.getAttribute("aria-hidden") !== "true") wrong.push(`an image without a name in ${name(svg.parentElement)}`);
  }
  for (const table of all("table")) {
    if (!table.querySelector("caption")?.textContent.trim()) wrong.push(`a table without a caption: ${name(table)}`);
    for (const head of all("th", table)) if (!head.hasAttribute("scope")) wrong.push(`a header cell without a scope: ${name(head)}`);
  }
  const levels = all("h1, h2, h3, h4").map(heading => Number(heading.tagName[1]));
  if (levels.filter(level => level === 1).length !== 1) wrong.push("the page does not have exactly one top-level heading");
  levels.forEach((level, position) => {
    if (position > 0 && level > levels[position - 1] + 1) wrong.push(`a heading of level ${level} follows one of level ${levels[position - 1]}`);
  });
  for (const link of all("a[href], summary")) if (!link.textContent.trim()) wrong.push("a link or control without a name");
  for (const link of all("a[href^='#']")) if (!document.getElementById(link.getAttribute("href").slice(1))) wrong.push(`${name(link)} leads nowhere`);
  if (!document.documentElement.lang) wrong.push("the page has no language");
  for (const landmark of ["main", "header", "nav", "footer"]) if (all(landmark).length === 0) wrong.push(`there is no ${landmark}`);

  // WCAG 2.2, 1.4.3: relative luminance and contrast.
  const channels = colour => { const found = colour.match(/[\d.]+/g).map(Number); return { rgb: found.slice(0, 3), alpha: found[3] ?? 1 }; };
  const luminance = rgb => {
    const linear = rgb.map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const background = element => {
    for (let above = element; above; above = above.parentElement) {
      const { rgb, alpha } = channels(getComputedStyle(above).backgroundColor);
      if (alpha > 0) return rgb;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  for (const element of all("body *")) {
    const hasText = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!hasText || !isShown(element)) continue;
    const style = getComputedStyle(element);
    const inDrawing = element instanceof SVGElement;
    const colour = channels(inDrawing ? style.fill : style.color).rgb;
    const backdrop = background(inDrawing ? element.closest("svg").parentElement : element);
    const [light, dark] = [luminance(colour), luminance(backdrop)].sort((one, other) => other - one);
    const contrast = (light + 0.05) / (dark + 0.05);
    const pair = `${colour} on ${backdrop}`;
    if (contrast < 4.5 && !seen.has(pair)) {
      seen.add(pair);
      wrong.push(`a contrast of ${contrast.toFixed(2)} in ${name(element)}: ${pair}`);
    }
  }

  for (const svg of all("svg").filter(isShown)) {
    const frame = svg.getBoundingClientRect();
    const texts = all("text", svg).filter(isShown).map(text => ({ text, box: text.getBoundingClientRect() }));
    for (const { text, box } of texts) {
      const isInside = box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      if (!isInside) wrong.push(`a label is cut off: ${text.textContent} in ${svg.getAttribute("aria-label").slice(0, 60)}`);
    }
    texts.forEach((one, position) => texts.slice(position + 1).forEach(other => {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (across > 1 && down > 4) wrong.push(`labels overlap: ${one.text.textContent} and ${other.text.textContent} in ${svg.getAttribute("aria-label").slice(0, 60)}`);
    }));
  }
  return wrong;
})()
