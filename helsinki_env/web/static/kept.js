/** What this browser remembers of how somebody likes to play. Without storage (a private window) nothing is kept. */

/**
 * @param {string} name
 * @param {string} usual
 */
export function recall(name, usual) {
  try {
    return localStorage.getItem(`table.${name}`) ?? usual;
  } catch {
    return usual;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function keep(name, value) {
  try {
    localStorage.setItem(`table.${name}`, value);
  } catch {
    // then it is the usual one next time
  }
}
