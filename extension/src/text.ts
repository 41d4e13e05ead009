// Text as the wire wants it: well formed, and cut only between whole characters.

/** Every string inside `value` made well formed: a lone surrogate would be refused by the host. */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map((each: unknown) => wellFormed(each)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, wellFormed<unknown>(each)])) as T;
  }
  return value;
}

const NEAR = 64;

/** The longest start of `text` of at most `limit` UTF-16 units that ends between two characters as people see them. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Only the surroundings of the border are segmented: the text may be very long.
  let from = Math.max(0, limit - NEAR);
  const unit = text.charCodeAt(from);
  if (from > 0 && unit >= 0xdc00 && unit <= 0xdfff) from -= 1;
  let end = from;
  for (const { index } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(from, limit + NEAR))) {
    if (from + index > limit) break;
    end = from + index;
  }
  return text.slice(0, end > from ? end : from);
}

/** One line for a list or a button: white space folded, at most `limit` units, with an ellipsis when cut. */
export function oneLine(text: string, limit: number): string {
  const flat = text.replace(/\s+/gu, ' ').trim();
  return flat.length <= limit ? flat : `${cutText(flat, limit - 1)}…`;
}
