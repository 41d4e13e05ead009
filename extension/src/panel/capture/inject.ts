// Runs the page's script in a tab, with a deadline: some pages never answer.
import type { ReadPage } from '../../page/reader';
import type { Strips } from '../../page/strips';
import { CannotRead, refusalOf } from './unreadable';

/** What the script offers inside the page. */
export interface InPage {
  readPage(most?: number, all?: boolean): ReadPage;
  selectedText(): string;
  framesHere(): string[];
  prepare(): Strips;
  goTo(y: number): Promise<Strips & { y: number }>;
  leave(): void;
}

const DEADLINE = 30_000;
/** These go on with what `prepare` has kept in the page, whose script must not begin anew. */
const CONTINUES: ReadonlySet<keyof InPage> = new Set(['goTo', 'leave', 'framesHere']);

/** Answers of the page and, with `frames`, of all its frames that may be read, in the order of the browser. */
export async function inPage<K extends keyof InPage>(
  tab: chrome.tabs.Tab & { id: number },
  name: K,
  args: Parameters<InPage[K]> | [] = [],
  frames = false,
): Promise<Awaited<ReturnType<InPage[K]>>[]> {
  const target = { tabId: tab.id, ...(frames ? { allFrames: true } : {}) };
  const asking = (async () => {
    const isThere = CONTINUES.has(name) && (await chrome.scripting.executeScript({ target, func: hasReader })).every(({ result }) => result);
    if (!isThere) await chrome.scripting.executeScript({ target, files: ['page-reader.js'] });
    const answers = await chrome.scripting.executeScript({ target, func: call, args: [name, args] });
    return answers.flatMap(({ result }) => (result === undefined || result === null ? [] : [result]));
  })();
  try {
    return (await within(asking, DEADLINE)) as Awaited<ReturnType<InPage[K]>>[];
  } catch (error) {
    throw error instanceof CannotRead ? error : new CannotRead(refusalOf(String(error), tab.url));
  }
}

/** These two run in the page, so they use nothing from here. */
function hasReader(): boolean {
  return 'sidekeepReader' in globalThis;
}

function call(name: string, args: unknown[]): unknown {
  const reader = (globalThis as unknown as { sidekeepReader: Record<string, (...given: unknown[]) => unknown> }).sidekeepReader;
  return reader[name]?.(...args);
}

export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CannotRead('too_slow')), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
