// Tables of an answer: lists of flat objects, which can be sorted.

/** The keys of a list's objects: those to show, and those of which all rows say the same. */
function columnsOf(list) {
  const all = [...new Set(list.flatMap(Object.keys))];
  const saysSame = (key) =>
      list.length > 1 && list.every((row) => saidOf(key, row[key]) === saidOf(key, list[0][key]));
  const same = all.filter(saysSame);
  return same.length < all.length ? {keys: all.filter((key) => !same.includes(key)), same} :
                                    {keys: all, same: []};
}

function isNumeric(list, key) {
  return list.every((row) => typeof (row[key] ?? 0) === 'number');
}

/** A table of flat objects; a click on a head sorts by it, a second the other way round. */
function sortedTable(list) {
  const {keys, same} = columnsOf(list);
  const numbers = keys.map((key) => isNumeric(list, key));
  const most = keys.map(
      (key, k) =>
          numbers[k] ? list.reduce((a, row) => Math.max(a, Math.abs(row[key] ?? 0)), 0) : 0);
  const holder = make('div', {className: 'sorted'});
  const everywhere = same.filter((key) => !isNothing(list[0][key] ?? null));
  const order = {key: -1, down: false};
  const cell = (row, k) => {
    const text = saidOf(keys[k], row[keys[k]]);
    if (!numbers[k]) return {left: text};
    const bar = make('i');
    if (most[k]) bar.style.width = `${100 * Math.abs(row[keys[k]] ?? 0) / most[k]}%`;
    return make('span', {className: 'measure'}, text, bar);
  };
  const show = () => {
    const rows = [...list];
    if (order.key >= 0) rows.sort((a, b) => compareBy(a, b, keys[order.key], order.down));
    const head = keys.map((key, k) => {
      const sign = order.key === k ? (order.down ? ' ▼' : ' ▲') : '';
      const sort = () => {
        order.down = order.key === k && !order.down;
        order.key = k;
        show();
        holder.querySelectorAll('th button')[k].focus();
      };
      const shown = button(wordsOf(key) + sign, `Sort by ${wordsOf(key)}`, sort, 'link');
      return numbers[k] ? shown : {left: shown};
    });
    holder.replaceChildren(
        longTable(head, rows.length, (i) => keys.map((_, k) => cell(rows[i], k))));
    if (everywhere.length) {
      const said = everywhere.map((key) => `${wordsOf(key)} ${saidOf(key, list[0][key])}`);
      holder.append(make('p', {className: 'note'}, `In all rows: ${said.join(', ')}.`));
    }
    holder.querySelectorAll('th').forEach((th, k) => {
      const now = order.key !== k ? 'none' : order.down ? 'descending' : 'ascending';
      th.setAttribute('aria-sort', now);
    });
  };
  show();
  return holder;
}

/** Numbers by size, texts by letters; what is not there is last either way. */
function compareBy(a, b, key, down) {
  const [x, y] = [a[key] ?? null, b[key] ?? null];
  if (x === null || y === null) return Number(x === null) - Number(y === null);
  const order = typeof x === 'number' && typeof y === 'number' ?
      x - y :
      saidOf(key, x).localeCompare(saidOf(key, y), 'en');
  return down ? -order : order;
}
