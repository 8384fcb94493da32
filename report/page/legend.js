// What colours, heights and hatching mean.

function classNames(model) {
  const upTo = model.bounds.map((bound) => `up to ${model.time(bound)}`);
  return ['none: critical', ...upTo, upTo.length ? 'more' : 'some'];
}

/** A row of samples, one for each class, drawn as bars are. */
function floatLegend(run) {
  if (!run.hasSlack) {
    return make('div', {className: 'legend'}, `No slack is known of this run: ${run.no_slack}.`);
  }
  return legendOf('Total float', 'float', classNames(run.model));
}

function slopeLegend() {
  return legendOf('Slope of a small delay', 'slope', kSlopeNames);
}

function legendOf(title, scale, names) {
  const legend = make('div', {className: 'legend'}, make('b', {}, title));
  names.forEach((text, c) => {
    const {canvas} = smallCanvas(30, 18);
    const draw = () => {
      const [width, height] = [canvas.width, canvas.height];
      const inset = Math.floor(height * (1 - kHeights[c]) / 2);
      const pixels = new Uint8Array(width * height).fill(kNoBar);
      pixels.fill(c, inset * width, (height - inset) * width);
      canvas.getContext('2d').putImageData(
          imageOf(pixels, width, height, new Palette(), scale, true), 0, 0);
    };
    draw();
    onTheme(draw);
    legend.append(make('span', {}, canvas, text));
  });
  return legend;
}
