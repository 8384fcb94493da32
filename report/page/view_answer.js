// What a command answered, whatever it is: figures by name, tables that can be sorted, curves.

function viewAnswer(model, place) {
  const scroll = make('div', {className: 'scroll', tabIndex: 0});
  place.append(scroll);
  const {answer} = model.facts;
  fillAnswer(scroll, answer, new Set(answer.proved ? ['schema'] : ['schema', 'proved']));
  return {focus: () => scroll.focus()};
}

/** All that an object says but for these keys: its figures, then its lists, in its order. */
function fillAnswer(place, object, without = new Set()) {
  const entries = Object.entries(object).filter(([key]) => !without.has(key));
  const figures = entries.filter(([, value]) => !isList(value) && !isNothing(value));
  if (figures.length) {
    const rows =
        figures.map(([key, value]) => tableRow([{left: wordsOf(key)}, {left: saidOf(key, value)}]));
    place.append(make('table', {className: 'said'}, make('tbody', {}, ...rows)));
  }
  for (const [key, list] of entries.filter(([, value]) => isList(value))) {
    if (list.every(isCurve)) {
      drawCurves(place, list, object);
    } else if (list.some((each) => Object.values(each).some(isLongList))) {
      for (const each of list) fillPart(place, each);
    } else {
      if (key !== 'rows') place.append(make('h2', {}, wordsOf(key)));
      drawTable(place, list);
      place.append(sortedTable(list));
    }
  }
}

/** Of a list whose parts have lists: each under its own title. */
function fillPart(place, part) {
  const titles = ['title', 'name'].filter((key) => typeof part[key] === 'string');
  if (titles.length) place.append(make('h2', {}, part[titles[0]]));
  fillAnswer(place, part, new Set([...titles, 'x_axis', 'y_axis', 'x_log_base', 'y_log_base']));
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isList(value) {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}
/** Of more than a word or a figure each. */
function isLongList(value) {
  return isList(value) && value.some((each) => Object.keys(each).length > 1);
}
function isNothing(value) {
  return value === null || value === '' || (Array.isArray(value) && !value.length);
}
function isCurve(value) {
  return Array.isArray(value.x) && Array.isArray(value.y);
}

// The units that keys end with: what tells them, how they are said, and what is cut off.
const kUnits = [
  [/_bytes_per_s$/, (value) => rateText(value), ''],
  [/_bits_per_s$/, (value) => rateText(value / 8), ''],
  [/_per_s$/, (value) => `${digits(value)}/s`, ''],
  [/_s$/, (value) => seconds(value), ''],
  [/bytes$/, (value) => byteText(value), null],
  [/share$/, (value) => percent(value), null],
];

function wordsOf(key) {
  const unit = kUnits.find(([end]) => end.test(key));
  const name = unit && unit[2] !== null ? key.replace(unit[0], unit[2]) : key;
  return name.replaceAll('_', ' ');
}

function saidOf(key, value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    const unit = kUnits.find(([end]) => end.test(key));
    if (unit) return unit[1](value);
    return Number.isInteger(value) ? countText(value) : digits(value, 5);
  }
  if (Array.isArray(value)) return value.map((each) => saidOf(key, each)).join('; ');
  if (isObject(value)) {
    return Object.entries(value).map(([k, v]) => `${wordsOf(k)} ${saidOf(k, v)}`).join(', ');
  }
  return String(value);
}
