/** Turns any name into a valid label value. */

/** `text` as a label value: at most 63 of letters, digits, `-`, `_`, `.`, starting and ending with a letter or digit. */
export function labelValue(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63)
    .replace(/[^A-Za-z0-9]+$/, '');
}
