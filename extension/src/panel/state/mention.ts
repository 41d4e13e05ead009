// The `@` that is being written: where it stands, and which tabs it means.
export interface Mention {
  /** Where the `@` stands in the text. */
  readonly start: number;
  readonly end: number;
  readonly query: string;
}

export interface OfferedTab {
  readonly id: number;
  readonly title: string;
  readonly url: string;
}

const LONGEST = 60;

/** The mention that ends at the cursor; an `@` inside of a word (an address of mail) is none. */
export function mentionAt(text: string, cursor: number): Mention | null {
  const [, before = '', query] = /(^|[\s(（【「，。、])[@＠]([^\s@＠]*)$/u.exec(text.slice(0, cursor)) ?? [];
  if (query === undefined || query.length > LONGEST) return null;
  const start = cursor - query.length - 1;
  return before === undefined ? null : { start, end: cursor, query };
}

const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}+/gu, '').toLowerCase();

/** Tabs whose title or address holds the words, in their order; the title's beginning counts most. */
export function matching(tabs: readonly OfferedTab[], query: string): OfferedTab[] {
  const words = folded(query);
  if (words === '') return [...tabs];
  const rank = ({ title, url }: OfferedTab): number => {
    const name = folded(title);
    if (name.startsWith(words)) return 0;
    return name.includes(words) ? 1 : folded(url).includes(words) ? 2 : 3;
  };
  return tabs.filter((tab) => rank(tab) < 3).toSorted((one, other) => rank(one) - rank(other));
}

export function without(text: string, { start, end }: Mention): string {
  return text.slice(0, start) + text.slice(end);
}
