// A saved page as one document that can neither run anything nor reach the network, for a frame without any rights.
import DOMPurify from 'dompurify';
import { type Mhtml, type MhtmlPart, textOfPart } from './mhtml';

/** The first thing in the document; nothing that follows can loosen it. */
export const POLICY =
  "default-src 'none'; script-src 'none'; img-src data:; media-src data:; font-src data:; style-src 'unsafe-inline' data:; " +
  "frame-src 'none'; form-action 'none'; base-uri 'none'";

const DEEPEST_FRAME = 3;
const DEEPEST_IMPORT = 5;

const CLEAN = {
  WHOLE_DOCUMENT: true,
  RETURN_DOM: true,
  ADD_TAGS: ['iframe', 'style'],
  ADD_ATTR: ['data-sidekeep-frame'],
  FORBID_TAGS: ['base', 'embed', 'link', 'meta', 'noscript', 'object', 'script', 'template'],
  FORBID_ATTR: ['action', 'formaction', 'ping', 'sandbox', 'srcdoc', 'target'],
  ALLOW_DATA_ATTR: true,
} as const;

/** HTML for `srcdoc`. Links and forms lead nowhere; pictures, styles and fonts come from the copy itself. */
export function documentOf(saved: Mhtml): string {
  return new Copy(saved).html(saved.root, DEEPEST_FRAME);
}

class Copy {
  private readonly urls = new Map<MhtmlPart, string>();

  constructor(private readonly saved: Mhtml) {}

  html(part: MhtmlPart, depth: number): string {
    const page = new DOMParser().parseFromString(textOfPart(part), 'text/html');
    const base = part.location;
    openShadows(page);
    for (const style of page.querySelectorAll('style')) style.textContent = this.css(style.textContent ?? '', base, DEEPEST_IMPORT);
    for (const link of page.querySelectorAll('link[rel~="stylesheet" i][href]')) this.inStyle(page, link, base);
    for (const frame of page.querySelectorAll('iframe, frame')) inFrame(page, frame);
    const clean = DOMPurify.sanitize(page.documentElement.outerHTML, { ...CLEAN, ADD_TAGS: [...CLEAN.ADD_TAGS], ADD_ATTR: [...CLEAN.ADD_ATTR], FORBID_TAGS: [...CLEAN.FORBID_TAGS], FORBID_ATTR: [...CLEAN.FORBID_ATTR] }) as unknown as HTMLElement;
    this.embed(clean, base);
    this.frames(clean, base, depth);
    return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="referrer" content="no-referrer">${clean.outerHTML}`;
  }

  private find(address: string, base: string): MhtmlPart | undefined {
    const trimmed = address.trim();
    const whole = URL.canParse(trimmed, base || undefined) ? new URL(trimmed, base || undefined).href : trimmed;
    return this.saved.parts.get(trimmed) ?? this.saved.parts.get(whole) ?? this.saved.parts.get(whole.split('#', 1)[0] ?? '');
  }

  /** What an address shows, as data; nothing where the copy does not hold it. */
  private dataUrl(address: string, base: string): string {
    if (/^\s*data:/i.test(address)) return address.trim();
    const part = this.find(address, base);
    if (!part || /html|script/.test(part.type)) return '';
    const known = this.urls.get(part);
    if (known !== undefined) return known;
    const url = `data:${part.type};base64,${btoa(part.bytes)}`;
    this.urls.set(part, url);
    return url;
  }

  private inStyle(page: Document, link: Element, base: string): void {
    const part = this.find(link.getAttribute('href') ?? '', base);
    if (part?.type !== 'text/css') return;
    const style = page.createElement('style');
    const media = link.getAttribute('media');
    if (media) style.setAttribute('media', media);
    style.textContent = this.css(textOfPart(part), part.location || base, DEEPEST_IMPORT);
    link.replaceWith(style);
  }

  private css(text: string, base: string, depth: number): string {
    const imported = text.replace(/@import\s+(?:url\(\s*)?(["']?)([^"')\s;]+)\1\s*\)?([^;]*);/gi, (_, _quote: string, address: string, media: string) => {
      const part = depth > 0 ? this.find(address, base) : undefined;
      if (part?.type !== 'text/css') return '';
      const inner = this.css(textOfPart(part), part.location || base, depth - 1);
      return media.trim() ? `@media ${media} {${inner}}` : inner;
    });
    const linked = imported.replace(/url\(\s*(["']?)([^"')]*)\1\s*\)/gi, (_, _quote: string, address: string) =>
      /^\s*#/.test(address) ? `url("${address.trim()}")` : `url("${this.dataUrl(address, base)}")`,
    );
    // What stands in a style cannot end it.
    return linked.replace(/<\/style/gi, '<\\/style');
  }

  private embed(root: HTMLElement, base: string): void {
    for (const element of root.querySelectorAll('[style]')) element.setAttribute('style', this.css(element.getAttribute('style') ?? '', base, 0));
    for (const element of root.querySelectorAll('[srcset]')) element.removeAttribute('srcset');
    for (const name of ['src', 'poster', 'background']) {
      for (const element of root.querySelectorAll(`[${name}]`)) {
        const url = this.dataUrl(element.getAttribute(name) ?? '', base);
        if (url) element.setAttribute(name, url);
        else element.removeAttribute(name);
      }
    }
    for (const element of root.querySelectorAll('[href], [*|href]')) leadNowhere(element);
    for (const image of root.querySelectorAll('image')) image.remove();
  }

  private frames(root: HTMLElement, base: string, depth: number): void {
    for (const frame of root.querySelectorAll('iframe')) {
      const part = this.find(frame.getAttribute('data-sidekeep-frame') ?? '', base);
      if (!part || depth === 0 || !part.type.includes('html')) {
        frame.remove();
        continue;
      }
      frame.removeAttribute('data-sidekeep-frame');
      frame.setAttribute('sandbox', '');
      frame.setAttribute('srcdoc', this.html(part, depth - 1));
    }
  }
}

/** A place in the same document stays one; every other link only says where it led. */
function leadNowhere(element: Element): void {
  const href = element.getAttribute('href') ?? element.getAttribute('xlink:href') ?? '';
  if (href.startsWith('#')) return;
  element.removeAttribute('href');
  element.removeAttribute('xlink:href');
  if (element.localName === 'a' && /^https?:/i.test(href) && !element.hasAttribute('title')) element.setAttribute('title', href);
}

/** The saved form of a shadow tree, shown in its host's place. */
function openShadows(page: Document): void {
  for (let found = page.querySelectorAll('template[shadowmode], template[shadowrootmode]'); found.length > 0; found = page.querySelectorAll('template[shadowmode], template[shadowrootmode]')) {
    for (const template of found) template.replaceWith((template as HTMLTemplateElement).content ?? '');
  }
}

/** A frame's address waits in an attribute that nothing follows. */
function inFrame(page: Document, frame: Element): void {
  const inner = page.createElement('iframe');
  for (const name of ['width', 'height', 'style', 'class', 'title']) {
    const value = frame.getAttribute(name);
    if (value !== null) inner.setAttribute(name, value);
  }
  inner.setAttribute('data-sidekeep-frame', frame.getAttribute('src') ?? '');
  frame.replaceWith(inner);
}
