// A drawing, and what a network says of it. The strokes are lists of points: [[x, y], [x, y], ...], in pixels.
'use strict';

const SIDE = 28;

// Pixels (0 to 255, row by row) as the network knows digits: fitted into 20 by 20, with the centre of mass in the middle
// of 28 by 28, between 0 and 1. null for an empty drawing.
function normalized(pixels, width, height) {
  let left = width, right = -1, top = height, bottom = -1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (pixels[y * width + x] < 20) continue;
      left = Math.min(left, x), right = Math.max(right, x), top = Math.min(top, y), bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return null;
  const scale = Math.max(right - left + 1, bottom - top + 1) / 20;
  const shrunk = (x0, y0) => {
    const found = new Float32Array(SIDE * SIDE);
    for (let i = 0; i < SIDE; i++) {
      for (let j = 0; j < SIDE; j++) {
        found[i * SIDE + j] = mean(pixels, width, height, x0 + j * scale, y0 + i * scale, scale) / 255;
      }
    }
    return found;
  };
  const middle = SIDE / 2 * scale;
  const [x, y] = centre(shrunk((left + right + 1) / 2 - middle, (top + bottom + 1) / 2 - middle));
  const dx = Math.round(x - SIDE / 2) * scale, dy = Math.round(y - SIDE / 2) * scale;
  return shrunk((left + right + 1) / 2 - middle + dx, (top + bottom + 1) / 2 - middle + dy);
}

// The mean of the pixels in a square.
function mean(pixels, width, height, x0, y0, size) {
  let total = 0, count = 0;
  for (let y = Math.floor(y0); y < Math.max(Math.floor(y0 + size), Math.floor(y0) + 1); y++) {
    for (let x = Math.floor(x0); x < Math.max(Math.floor(x0 + size), Math.floor(x0) + 1); x++) {
      count++;
      if (x >= 0 && x < width && y >= 0 && y < height) total += pixels[y * width + x];
    }
  }
  return total / count;
}

function centre(image) {
  let mass = 0, sumX = 0, sumY = 0;
  image.forEach((value, i) => {
    mass += value, sumX += value * (i % SIDE + 0.5), sumY += value * (Math.floor(i / SIDE) + 0.5);
  });
  return [sumX / mass, sumY / mass];
}

function draw(canvas, strokes) {
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  pen.clearRect(0, 0, canvas.width, canvas.height);
  Object.assign(pen, {strokeStyle: '#fff', lineWidth: 22, lineCap: 'round', lineJoin: 'round'});
  for (const stroke of strokes) {
    pen.beginPath();
    stroke.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    if (stroke.length === 1) pen.lineTo(stroke[0][0] + 0.1, stroke[0][1]);
    pen.stroke();
  }
  const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
  return Uint8Array.from({length: canvas.width * canvas.height}, (_, i) => data[4 * i + 3]);
}

function show(scores) {
  const table = document.getElementById('scores');
  table.replaceChildren();
  scores.forEach((score, digit) => {
    const row = table.insertRow();
    row.insertCell().textContent = digit;
    const bar = document.createElement('div');
    bar.style.width = `${100 * score}%`;
    bar.title = score.toFixed(4);
    row.insertCell().append(bar);
  });
  document.getElementById('guess').textContent = scores.length ? scores.indexOf(Math.max(...scores)) : '';
}

async function start() {
  const canvas = document.getElementById('drawing');
  const model = await tf.loadGraphModel('model/model.json');
  const strokes = location.hash ? JSON.parse(decodeURIComponent(location.hash.slice(1))) : [];

  function update() {
    const image = normalized(draw(canvas, strokes), canvas.width, canvas.height);
    if (!image) return show([]);
    const scores = tf.tidy(() => model.predict(tf.tensor(image, [1, SIDE, SIDE, 1])).dataSync());
    show(Array.from(scores));
  }

  let drawing = false;
  const point = (event) => [Math.round(event.offsetX), Math.round(event.offsetY)];
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    drawing = true;
    strokes.push([point(event)]);
    update();
  };
  canvas.onpointermove = (event) => {
    if (!drawing) return;
    strokes[strokes.length - 1].push(point(event));
    update();
  };
  canvas.onpointerup = () => {
    drawing = false;
    history.replaceState(null, '', '#' + encodeURIComponent(JSON.stringify(strokes)));
  };
  document.getElementById('clear').onclick = () => {
    strokes.length = 0;
    history.replaceState(null, '', location.pathname);
    update();
  };
  update();
}

if (typeof module !== 'undefined') module.exports = {normalized};
