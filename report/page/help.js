// The help: every key and what the pointer does.

const kKeys = [
  ['1 … 9', 'the views'],
  ['/', 'find an operation; Enter the next, Shift+Enter the one before'],
  ['n  p', 'the next and the one before of what was found'],
  ['+  −', 'zoom in and out; or turn the wheel'],
  ['←  →', 'earlier and later; or drag'],
  ['↑  ↓', 'ranks above and below; or turn the wheel with Shift'],
  [']  [', 'higher and lower rows; or turn the wheel with Ctrl'],
  ['0', 'everything'],
  ['Esc', 'let go of the operation that is chosen'],
  ['?', 'this help'],
];

function fillHelp(dialog) {
  const rows = kKeys.map(
      ([keys, what]) => tableRow([
        {
          left: make(
              'span', {},
              ...keys.split('  ').flatMap((key, i) => [i ? ' ' : '', make('kbd', {}, key)]))
        },
        {left: what}
      ]));
  dialog.append(
      make('h2', {}, 'Keys'), make('table', {}, make('tbody', {}, ...rows)),
      make('h2', {}, 'What is drawn'),
      make(
          'p', {},
          'Each rank has a row for each CPU lane (posts, calculations, copies), one for what its ' +
              'NIC sends, one for what it receives and one for what only waits. Colour, height ' +
              'and hatching tell the total float: how far an operation can slip and the run ' +
              'still ends on time. Where several operations meet in one pixel, the one with the ' +
              'least float is seen.'),
      make('button', {type: 'button', on: {click: () => dialog.close()}}, 'Close'));
}
