// The network as messages pass it: its links in rows, by how late on a way they come at the latest,
// coloured by their load; between them how many bytes go from one to the next.

const kMostPairs = 600;
const kRowTall = 62;

/**
 * `rate(link)` is in bytes/s, and `share(link)` is its load; a click on a link calls
 * `onClick(link)`. How many lines were left out.
 */
function drawNetwork(place, run, use, {rate, share: shareOf}, onClick) {
  const rows = rowsOfLinks(use);
  const width = Math.max(360, Math.min(1180, (place.clientWidth || 1200) - 40));
  const boxes = new Map();
  rows.forEach((row, r) => {
    const cell = (width - 20) / row.length;
    row.forEach((link, i) => boxes.set(link, {
      x: 10 + i * cell + 1,
      y: 8 + r * kRowTall,
      width: Math.max(1, Math.min(cell - 2, 120)),
      height: 22
    }));
    centre(row, boxes, width);
  });
  const height = 8 + (rows.length - 1) * kRowTall + 34;
  const {canvas, context} = smallCanvas(width, height);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'The network with the load of its links');
  place.append(make('div', {className: 'figure'}, canvas));
  const pairs = pairsOf(use.ways);
  const paint = () => {
    const palette = new Palette();
    context.clearRect(0, 0, width, height);
    const heaviest = pairs.length ? pairs[0].bytes : 1;
    for (const {from, to, bytes} of pairs.slice(0, kMostPairs).reverse()) {
      drawPair(context, boxes.get(from), boxes.get(to), bytes / heaviest, palette);
    }
    for (const [link, box] of boxes) {
      drawLinkBox(context, box, run.links[link].name, shareOf(link), palette);
    }
  };
  paint();
  onTheme(paint);
  const linkAt = (x, y) => {
    const found = [...boxes].find(
        ([, box]) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height);
    return found ? found[0] : null;
  };
  addTip(canvas, (x, y) => {
    const link = linkAt(x, y);
    if (link === null) return null;
    return `${run.links[link].name}: ${byteText(use.bytes[link])}, ${percent(shareOf(link))} of ${
        rateText(rate(link))}`;
  });
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    const link = linkAt(event.clientX - box.left, event.clientY - box.top);
    if (link !== null) onClick(link);
  });
  return Math.max(0, pairs.length - kMostPairs);
}

/** The links that carried something, each in the row of its latest place on a way. */
function rowsOfLinks({used, ways}) {
  const row = new Map(used.map((link) => [link, 0]));
  for (const {hops} of ways) {
    hops.forEach((hop, place) => {
      for (const {link} of hop) row.set(link, Math.max(row.get(link), place));
    });
  }
  const rows = [];
  for (const [link, r] of row) (rows[r] = rows[r] || []).push(link);
  return rows.filter((each) => each).map((each) => each.sort((a, b) => a - b));
}

function centre(row, boxes, width) {
  const last = boxes.get(row[row.length - 1]);
  const cell = (width - 20) / row.length;
  const spare = (cell - 2 - last.width) / 2;
  for (const link of row) boxes.get(link).x += Math.max(0, spare);
}

/**
 * Which links follow each other on ways, and with how many bytes; the heaviest first. Where sprayed
 * messages go on from several links to more, nobody says which of them follow which.
 */
function pairsOf(ways) {
  const pairs = new Map();
  const add = (from, to, bytes) => {
    const key = `${from.link} ${to.link}`;
    const pair = pairs.get(key) || {from: from.link, to: to.link, bytes: 0};
    pair.bytes += bytes * Math.min(from.share, to.share);
    pairs.set(key, pair);
  };
  for (const {hops, bytes} of ways) {
    for (let h = 1; h < hops.length; ++h) {
      const [before, after] = [hops[h - 1], hops[h]];
      const count = Math.max(before.length, after.length);
      if (Math.min(before.length, after.length) !== 1 && before.length !== after.length) continue;
      for (let i = 0; i < count; ++i) {
        add(before[Math.min(i, before.length - 1)], after[Math.min(i, after.length - 1)], bytes);
      }
    }
  }
  return [...pairs.values()].sort((a, b) => b.bytes - a.bytes || a.from - b.from || a.to - b.to);
}

function drawPair(context, from, to, share, palette) {
  const [x0, x1] = [from.x + from.width / 2, to.x + to.width / 2];
  const [y0, y1] = to.y > from.y ? [from.y + from.height, to.y] : [from.y, to.y + to.height];
  const middle = (y0 + y1) / 2;
  context.strokeStyle = palette.mix('line', 'accent', Math.sqrt(share));
  context.lineWidth = 0.5 + 5 * share;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  context.stroke();
}

function drawLinkBox(context, box, name, share, palette) {
  const {x, y, width, height} = box;
  context.fillStyle = palette.mix('heat0', 'heat1', Math.min(1, share));
  context.fillRect(x, y, width, height);
  // The bar says the load to who sees no colours.
  context.fillStyle = palette.get('cause7');
  context.fillRect(x, y + height - 3, width * Math.min(1, share), 3);
  context.strokeStyle = palette.get('quiet');
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.font = kFont;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = palette.get(share > 0.5 ? 'page' : 'text');
  const both = `${shortName(name)} ${percent(Number(share.toPrecision(2)))}`;
  const text = [both, percent(Number(share.toPrecision(2)))].find(
      (each) => context.measureText(each).width < width - 4);
  if (text) context.fillText(text, x + width / 2, y + height / 2 - 1);
}
