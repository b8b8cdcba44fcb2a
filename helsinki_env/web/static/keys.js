/** Characters of keys, independent of the keyboard layout: AZERTY requires Shift for digits, and letters may differ. */

/**
 * Return a letter a to z, a digit 0 to 9, or the name of the key (`Enter`, `ArrowLeft`, ...).
 *
 * @param {KeyboardEvent} event
 */
export function keyOf(event) {
  const { key, code } = event;
  const single = [...key].length === 1;
  if (!single && !["Dead", "Process", "Unidentified"].includes(key)) return key;
  const plain = key.normalize("NFKC").toLowerCase();
  if (single && /^[a-z0-9]$/.test(plain)) return plain;
  if (/^\p{Nd}$/u.test(plain)) return String(valueOf(plain));
  // For other characters, use the letter or digit at the position of the key on a Latin keyboard.
  const there = /^(?:Key([A-Z])|(?:Digit|Numpad)(\d))$/.exec(code);
  return there ? (there[1]?.toLowerCase() ?? there[2]) : key;
}

/**
 * Return the value of a digit in any script; the ten digits of a script are consecutive characters.
 *
 * @param {string} digit
 */
function valueOf(digit) {
  const at = /** @type {number} */ (digit.codePointAt(0));
  let zero = at;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (at - zero) % 10;
}
