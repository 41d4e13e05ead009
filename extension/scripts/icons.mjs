// Draws the extension's icons: a speech bubble with a bookmark in it. Plain arithmetic, no image library.
import { writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

const GROUND = [10, 102, 95];
const PAPER = [255, 255, 255];
const FINE = 4;

/** Distance to a rectangle with round corners; negative inside. */
function box(x, y, left, top, right, bottom, radius) {
  const dx = Math.abs(x - (left + right) / 2) - (right - left) / 2 + radius;
  const dy = Math.abs(y - (top + bottom) / 2) - (bottom - top) / 2 + radius;
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
}

/** The colour at a point of the unit square, or null outside of the icon. */
function at(x, y) {
  if (box(x, y, 0.02, 0.02, 0.98, 0.98, 0.22) > 0) return null;
  const bubble = box(x, y, 0.19, 0.2, 0.81, 0.68, 0.12) < 0;
  const tail = x > 0.3 && x < 0.52 && y >= 0.6 && y < 0.6 + (0.52 - x) * 1.15;
  const notch = y > 0.56 - Math.abs(x - 0.5) * 0.9;
  const mark = x > 0.4 && x < 0.6 && y > 0.2 && !notch;
  return (bubble || tail) && !mark ? PAPER : GROUND;
}

function pixel(column, row, size) {
  const sum = [0, 0, 0, 0];
  for (let step = 0; step < FINE * FINE; step += 1) {
    const x = (column + ((step % FINE) + 0.5) / FINE) / size;
    const y = (row + (Math.floor(step / FINE) + 0.5) / FINE) / size;
    const colour = at(x, y);
    if (colour) [0, 1, 2].forEach((part) => (sum[part] += colour[part])), (sum[3] += 1);
  }
  const inside = sum[3] || 1;
  return [sum[0] / inside, sum[1] / inside, sum[2] / inside, (sum[3] / (FINE * FINE)) * 255].map(Math.round);
}

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(checksum(body));
  return Buffer.concat([length, body, sum]);
}

function png(size) {
  const rows = Array.from({ length: size }, (_, row) =>
    Buffer.from([0, ...Array.from({ length: size }, (_, column) => pixel(column, row, size)).flat()]),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

for (const size of [16, 32, 48, 128]) {
  writeFileSync(new URL(`../public/icons/${size}.png`, import.meta.url), png(size));
}
