// Labels of rows and seats by rules: a first label, a step, letters or numbers, from either end.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HANGUL = "가나다라마바사아자차카타파하";

export const DEFAULT_NUMBERING = { firstRow: "1", fromBack: false, firstSeat: "1", fromRight: false, step: 1, skipsIO: false };

/** `n` labels from `first`: `1, 2, …`, `A, B, …, Z, AA, …` or `가, 나, …`. */
export function labels(first, n, { step = 1, skipsIO = false } = {}) {
  const from = String(first ?? "").trim();
  const alphabet = alphabetOf(from, skipsIO);
  if (!alphabet) {
    const number = Number.parseInt(from, 10) || 0;
    return Array.from({ length: n }, (_, i) => String(number + i * step));
  }
  const start = indexIn(alphabet, from.toUpperCase());
  return Array.from({ length: n }, (_, i) => wordAt(alphabet, start + i * step));
}

function alphabetOf(from, skipsIO) {
  if (from && [...from].every((it) => HANGUL.includes(it))) return HANGUL;
  if (!/^[A-Za-z]+$/.test(from)) return null;
  return skipsIO ? LETTERS.replace(/[IO]/g, "") : LETTERS;
}

/** Like the columns of a spreadsheet: after Z comes AA. */
function wordAt(alphabet, index) {
  let word = "";
  for (let rest = index + 1; 0 < rest; rest = Math.floor((rest - 1) / alphabet.length)) {
    word = alphabet[(rest - 1) % alphabet.length] + word;
  }
  return word;
}

function indexIn(alphabet, word) {
  return [...word].reduce((sum, letter) => sum * alphabet.length + Math.max(0, alphabet.indexOf(letter)) + 1, 0) - 1;
}

/** The labels of `n` rows, from the front. */
export function rowLabels(numbering, n) {
  const made = labels(numbering.firstRow, n, { skipsIO: numbering.skipsIO });
  return numbering.fromBack ? made.reverse() : made;
}

/** The numbers of one row from the left; `isThere(i)` is false where there is no seat at all. */
export function seatNumbers(numbering, n, isThere) {
  const there = Array.from({ length: n }, (_, i) => i).filter(isThere);
  const made = labels(numbering.firstSeat, there.length, numbering);
  if (numbering.fromRight) made.reverse();
  const numbers = new Array(n).fill(null);
  there.forEach((i, at) => (numbers[i] = made[at]));
  return numbers;
}
