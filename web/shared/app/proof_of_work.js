// The queue's proof of work: a number such that SHA-256 of `salt.number` starts with enough zero
// bits. Its own SHA-256, because the browser's is asynchronous and only available on https.

const PER_TURN = 5000;

/**
 * The value of the `Challenge-Answer` header. Yields regularly, so that the page stays responsive.
 */
export async function solve({ salt, bits }) {
  for (let number = 0; ; number += 1) {
    if (leadingZeros(`${salt}.${number}`) >= bits) return `${salt}.${number}`;
    if (number % PER_TURN === PER_TURN - 1) await new Promise((done) => setTimeout(done));
  }
}

function leadingZeros(text) {
  const [first, second] = sha256(text);
  return first === 0 ? 32 + Math.clz32(second) : Math.clz32(first);
}

const primes = [];
for (let n = 2; primes.length < 64; n += 1) {
  if (primes.every((prime) => n % prime)) primes.push(n);
}
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const K = primes.map((prime) => fraction(Math.cbrt(prime)));
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const rotate = (x, n) => (x >>> n) | (x << (32 - n));

/** The first two words of the hash of a short ASCII text. */
function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const words = new Int32Array(16 * Math.ceil((bytes.length + 9) / 64));
  bytes.forEach((byte, index) => (words[index >> 2] |= byte << (24 - 8 * (index % 4))));
  words[bytes.length >> 2] |= 0x80 << (24 - 8 * (bytes.length % 4));
  words[words.length - 1] = bytes.length * 8;
  const state = Int32Array.from(START);
  for (let start = 0; start < words.length; start += 16) block(state, words.subarray(start, start + 16));
  return [state[0] >>> 0, state[1] >>> 0];
}

function block(state, words) {
  const w = new Int32Array(64);
  w.set(words);
  for (let i = 16; i < 64; i += 1) {
    const s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >>> 3);
    const s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => (state[index] += value));
}
