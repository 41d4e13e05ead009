// The browser around a panel: its ports, words, storage and layout, as far as jsdom has none.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FarPort } from './port';

const root = resolve(import.meta.dirname, '../..');

export type Words = Readonly<Record<string, { message: string }>>;
export const words = (language: string): Words =>
  JSON.parse(readFileSync(resolve(root, `public/_locales/${language}/messages.json`), 'utf8')) as Words;

/** The worker's ends of the ports that panels opened. */
export const ports: FarPort[] = [];
export const stored = { local: new Map<string, unknown>(), session: new Map<string, unknown>() };
export const opened: string[] = [];
let language = 'en';

export function browserSpeaks(next: string): void {
  language = next;
}

function area(map: Map<string, unknown>) {
  return {
    get: async (keys: string | string[] | null) => {
      const wanted = keys === null ? [...map.keys()] : [keys].flat();
      return Object.fromEntries(wanted.filter((key) => map.has(key)).map((key) => [key, map.get(key)]));
    },
    set: async (values: object) => Object.entries(values).forEach(([key, value]) => map.set(key, structuredClone(value))),
    remove: async (key: string) => void map.delete(key),
    onChanged: { addListener: () => undefined },
  };
}

const chromeThere = {
  runtime: {
    id: 'extension',
    connect: ({ name }: { name: string }) => {
      const port = new FarPort(name);
      ports.push(port);
      return port.port;
    },
    getURL: (path: string) => `chrome-extension://extension/${path}`,
    getManifest: () => ({ version: '0.1.0' }),
  },
  i18n: {
    getMessage: (key: string, values: string[] = []) =>
      (words(language)[key]?.message ?? '').replace(/\$(\d)/g, (_, place: string) => values[Number(place) - 1] ?? ''),
  },
  storage: { local: area(stored.local), session: area(stored.session) },
  tabs: { create: async ({ url }: { url: string }) => void opened.push(url) },
};

/** Every element has a box, and whoever watches one hears of it: rows are 60 high in a window of 600. */
class Boxes implements ResizeObserver {
  constructor(private readonly tell: ResizeObserverCallback) {}
  observe(target: Element): void {
    const height = target.classList.contains('rows') || target.querySelector('.row') === null ? 600 : 60;
    const contentRect = { width: 360, height: target.querySelector(':scope > .row') ? 60 : height } as DOMRectReadOnly;
    queueMicrotask(() => this.tell([{ target, contentRect } as unknown as ResizeObserverEntry], this));
  }
  unobserve(): void {}
  disconnect(): void {}
}

export function install(): void {
  ports.length = 0;
  opened.length = 0;
  stored.local.clear();
  stored.session.clear();
  language = 'en';
  Object.assign(globalThis, { chrome: chromeThere, ResizeObserver: Boxes });
  Object.assign(window, {
    matchMedia: (query: string) => ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }),
  });
  Object.defineProperty(HTMLElement.prototype, 'offsetParent', { configurable: true, get: () => document.body });
  Object.defineProperty(HTMLElement.prototype, 'scrollHeight', { configurable: true, get: () => 20 });
  Object.defineProperty(HTMLElement.prototype, 'offsetHeight', { configurable: true, get: () => 600 });
  HTMLElement.prototype.scrollTo = () => undefined;
  // A scroller tells that it was scrolled, and stands at its end when it is sent beyond.
  Object.defineProperty(HTMLElement.prototype, 'scrollTop', {
    configurable: true,
    get: () => 0,
    set(this: HTMLElement) {
      queueMicrotask(() => this.dispatchEvent(new Event('scroll')));
    },
  });
  HTMLDialogElement.prototype.showModal = function showModal(this: HTMLDialogElement) {
    this.open = true;
    this.querySelector<HTMLElement>('[autofocus], button, input')?.focus();
  };
}
