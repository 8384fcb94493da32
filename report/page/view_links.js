// How busy NICs and links are over time.

const kLinkBins = 240;
const kMostLinks = 256;

function viewLinks(model, place) {
  return withRunChoice(model, place, fillLinks);
}

async function fillLinks(run, inner) {
  const {model} = run;
  inner.replaceChildren();
  const use = await linkUse(run, kLinkBins);
  if (!use.used.length) {
    inner.append(make('p', {className: 'note'}, 'No message passed a link.'));
    return;
  }
  // Of links whose rate changes, in the mean over the run.
  const rate = (link) => use.rateOf(link, 0, run.last);
  const share = (link) => use.onWire[link] / (rate(link) * model.seconds(run.last || 1));
  const busiest = [...use.used].sort((a, b) => share(b) - share(a) || a - b);
  const chosen = {link: busiest[0]};
  const chart = make('div');
  const showChart = () => {
    chart.replaceChildren();
    drawLinkChart(chart, run, use, chosen.link);
  };
  inner.append(make('h2', {}, 'The network, with the load of its links'));
  const left = drawNetwork(inner, run, use, {rate, share}, (link) => {
    chosen.link = link;
    showChart();
  });
  inner.append(make(
      'p', {className: 'note'},
      'From above to below as messages pass: a link stands where a way has it at the latest. ' +
          'Colour and bar are its bytes as a share of what it could have carried; a line is as ' +
          'broad as the bytes that went from one link to the next.' +
          (left ? ` The lightest ${countText(left)} lines are left out.` : '')));
  inner.append(make('h2', {}, 'Use of links over time'), chart);
  showChart();
  const shown = busiest.slice(0, kMostLinks).sort((a, b) => a - b);
  inner.append(make(
      'h2', {},
      shown.length < use.used.length ?
          `The ${shown.length} busiest of ${
              countText(use.used.length)} links that carried something` :
          'Every link that carried something'));
  drawGrid(inner, {
    rows: shown.length,
    columns: kLinkBins,
    title: 'Use of links over time',
    rowTitle: 'link',
    columnTitle: 'time',
    columnRoom: 100,
    rowName: (r) => shortName(run.links[shown[r]].name),
    columnName: (c) => model.time(Number((c / kLinkBins * run.last).toPrecision(3))),
    cellAt: (r, c, palette) => {
      const now = use.shares[shown[r] * kLinkBins + c];
      if (!now) return null;
      const {name} = run.links[shown[r]];
      const [from, to] = [c / kLinkBins * run.last, (c + 1) / kLinkBins * run.last];
      return {
        colour: palette && palette.mix('heat0', 'heat1', Math.min(1, 0.08 + 0.92 * now)),
        text: `${name}: ${percent(now)} of ${rateText(use.rateOf(shown[r], from, to))} from ${
            model.time(
                from)} on; ${byteText(use.bytes[shown[r]])} and ${percent(share(shown[r]))} in all`
      };
    },
    onClick: (r) => {
      chosen.link = shown[r];
      showChart();
    },
  });
  inner.append(make(
      'p', {className: 'note'},
      run.measured ? `Of a real run: a message counts from its issue to its receipt. No rate of ` +
              `a link is known: all is relative to the highest that was seen, ${
                         rateText(rate(0))}. A click on a row draws it above.` :
                     'A message counts on all links of its way while it leaves its NIC' +
              (run.sprayed ? ', a sprayed one with its part. ' : '. ') +
              (run.links.some(({changes}) => changes) ?
                   'Where the rate of a link changes, a share is of the rate at that time. ' :
                   '') +
              (run.attempts.some((times) => times > 1) ?
                   'Of what ran several times, the last is drawn, and bytes are those of all. ' :
                   '') +
              'A click on a link draws it above.'));
}

function shortName(name) {
  return name.length > 11 ? `…${name.slice(-10)}` : name;
}

function drawLinkChart(place, run, use, link) {
  const {model} = run;
  const mean = new Float64Array(kLinkBins);
  const most = new Float64Array(kLinkBins);
  for (const each of use.used) {
    for (let b = 0; b < kLinkBins; ++b) {
      const now = use.shares[each * kLinkBins + b];
      mean[b] += now / use.used.length;
      most[b] = Math.max(most[b], now);
    }
  }
  const steps = (valueAt) =>
      Array
          .from(
              {length: kLinkBins},
              (_, b) => [
                  [model.seconds(b / kLinkBins * run.last), valueAt(b)],
                  [model.seconds((b + 1) / kLinkBins * run.last), valueAt(b)]])
          .flat();
  place.append(lineLegend(
      [[run.links[link].name, 'cause3', []], ['mean of all that are used', 'quiet', [6, 4]]]));
  const top = Math.max(1, ...most);
  drawChart(place, {
    title: `Use of ${run.links[link].name}`,
    height: 230,
    x: {from: 0, to: model.seconds(run.last), title: 'time', label: kTimeAxis},
    y: {
      from: 0,
      to: Math.min(top, 1.5),
      title: run.measured ? 'share of the highest' : 'share of its rate',
      label: kPercentAxis
    },
    draw: (context, at, palette) => {
      strokeLine(
          context, at, steps((b) => use.shares[link * kLinkBins + b]), palette.get('cause3'));
      strokeLine(context, at, steps((b) => mean[b]), palette.get('quiet'), [6, 4]);
    },
    tip: (time) => {
      const b = Math.min(kLinkBins - 1, Math.floor(time / model.seconds(run.last) * kLinkBins));
      return `${seconds(time)}: ${percent(use.shares[link * kLinkBins + b])}, mean ${
          percent(mean[b])}`;
    },
  });
}
