// A copy of the document as the eye sees it: shadow trees and frames opened, what is hidden or no text left out.
const DROPPED: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'link', 'meta', 'object', 'embed', 'svg', 'canvas']);
const FRAMES: ReadonlySet<string> = new Set(['iframe', 'frame']);

/** Marks in the copy what the page's styles say and the element's name does not. */
export const APART = 'data-sidekeep-apart';
/** Stands where a frame of another site was, which cannot be read from here. */
export const CLOSED_FRAME = 'data-sidekeep-frame';

/** What is left for a copy; once it is used up the rest of the page stays where it is. */
export interface Budget {
  characters: number;
  /** On the clock of `performance.now()`. */
  readonly until: number;
}
const ENDLESS: Budget = { characters: Infinity, until: Infinity };
export const isUsedUp = ({ characters, until }: Budget): boolean => characters <= 0 || performance.now() > until;

interface Copying {
  readonly owner: Document;
  readonly budget: Budget;
  /** Inside of what is folded up: styles say that it is not seen, but it is one click away. */
  readonly folded: boolean;
  /** `visibility` hides the text here; what is inside may take that back. */
  readonly unseen: boolean;
}

/** Copies of `document` are inert: nothing in them loads or runs. */
export function flatClone(source: Document, budget = ENDLESS): Document {
  const copy = source.implementation.createHTMLDocument(source.title);
  const base = copy.createElement('base');
  base.href = source.baseURI;
  copy.head.append(base);
  if (source.body) copyInto(source.body, copy.body, { owner: copy, budget, folded: false, unseen: false });
  return copy;
}

function copyInto(from: ParentNode & Node, to: Element, copying: Copying): void {
  for (let child = from.firstChild; child && !isUsedUp(copying.budget); child = child.nextSibling) copyNode(child, to, copying);
}

// Nodes of a frame are of other classes than ours: `instanceof` would not know them.
const isElement = (node: Node): node is HTMLElement => node.nodeType === Node.ELEMENT_NODE;

function copyNode(node: Node, to: Element, copying: Copying): void {
  if (node.nodeType === Node.TEXT_NODE) {
    if (copying.unseen) return;
    const text = node.nodeValue ?? '';
    copying.budget.characters -= text.length;
    to.append(text);
    return;
  }
  if (!isElement(node)) return;
  // A slot stands for what was put into it.
  if (node.localName === 'slot' && node.getRootNode().nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
    const assigned = (node as HTMLSlotElement).assignedNodes();
    for (const each of assigned.length > 0 ? assigned : node.childNodes) copyNode(each, to, copying);
    return;
  }
  if (DROPPED.has(node.localName) || (node.localName === 'dialog' && !(node as HTMLDialogElement).open)) return;
  if (node.getAttribute('aria-hidden') === 'true' && !node.matches('pre,code,table')) return;
  const sight = sightOf(node, copying.folded);
  if (sight === 'hidden') return;
  if (FRAMES.has(node.localName)) {
    copyFrame(node as HTMLIFrameElement, to, copying);
    return;
  }
  const copy = copying.owner.importNode(node, false);
  if (isApart(node)) copy.setAttribute(APART, '');
  to.append(copy);
  const folded = copying.folded || (node.localName === 'details' && !(node as HTMLDetailsElement).open);
  const unseen = sight === 'unseen';
  const same = folded === copying.folded && unseen === copying.unseen;
  copyInto(shadowOf(node) ?? node, copy, same ? copying : { ...copying, folded, unseen });
}

function copyFrame(frame: HTMLIFrameElement, to: Element, copying: Copying): void {
  const section = copying.owner.createElement('section');
  const inner = contentOf(frame);
  if (inner?.body) copyInto(inner.body, section, { ...copying, folded: false, unseen: false });
  else section.setAttribute(CLOSED_FRAME, frame.src);
  to.append(section);
}

/** The document in a frame; null for one of another site. */
export function contentOf(frame: HTMLIFrameElement | HTMLFrameElement): Document | null {
  try {
    return frame.contentDocument;
  } catch {
    return null;
  }
}

/** Extensions may also look into closed shadow trees. */
function shadowOf(element: HTMLElement): ShadowRoot | null {
  return element.shadowRoot ?? globalThis.chrome?.dom?.openOrClosedShadowRoot?.(element) ?? null;
}

function sightOf(element: HTMLElement, folded: boolean): 'seen' | 'unseen' | 'hidden' {
  if (folded) return styleOf(element)?.display === 'none' ? 'hidden' : 'seen';
  if (element.checkVisibility({ visibilityProperty: true })) return 'seen';
  if (hasContents(element)) return isUnseen(element) ? 'unseen' : 'seen';
  return element.checkVisibility() ? 'unseen' : 'hidden';
}

/** `display: contents` boxes are no boxes, but what is in them is seen. */
function hasContents(element: Element): boolean {
  return styleOf(element)?.display === 'contents';
}

const isUnseen = (element: Element): boolean => /^(hidden|collapse)$/.test(styleOf(element)?.visibility ?? '');

const INLINE: ReadonlySet<string> = new Set([
  'a', 'abbr', 'b', 'bdi', 'bdo', 'button', 'cite', 'code', 'data', 'del', 'em', 'i', 'ins', 'kbd', 'label', 'mark', 'q', 's', 'samp',
  'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var',
]);

/** An element that flows with the text by its name, but stands apart by its style (the cells of a flex box, say). */
function isApart(element: Element): boolean {
  if (!INLINE.has(element.localName) && !element.localName.includes('-')) return false;
  const display = styleOf(element)?.display ?? 'inline';
  return !/^(inline|contents|ruby|none|$)/.test(display);
}

function styleOf(element: Element): CSSStyleDeclaration | undefined {
  return element.ownerDocument.defaultView?.getComputedStyle(element);
}
