// A copy of the document as the eye sees it: shadow trees opened, what is hidden or no text left out.
const DROPPED = 'script,style,noscript,template,link,meta,iframe,object,embed,canvas,svg,dialog:not([open])';

/** Copies of `document` are inert: nothing in them loads or runs. */
export function flatClone(source: Document): Document {
  const copy = source.implementation.createHTMLDocument(source.title);
  const { baseURI } = source;
  const base = copy.createElement('base');
  base.href = baseURI;
  copy.head.append(base);
  if (source.body) copyInto(source.body, copy.body, copy);
  for (const element of copy.body.querySelectorAll(DROPPED)) element.remove();
  return copy;
}

function copyInto(from: Element | ShadowRoot, to: Element, owner: Document): void {
  for (const child of from.childNodes) copyNode(child, to, owner);
}

function copyNode(node: Node, to: Element, owner: Document): void {
  if (node.nodeType === Node.TEXT_NODE) {
    to.append(node.nodeValue ?? '');
    return;
  }
  if (!(node instanceof Element)) return;
  // A slot stands for what was put into it.
  if (node instanceof HTMLSlotElement && node.getRootNode() instanceof ShadowRoot) {
    const assigned = node.assignedNodes();
    for (const each of assigned.length > 0 ? assigned : node.childNodes) copyNode(each, to, owner);
    return;
  }
  if (isHidden(node)) return;
  const copy = owner.importNode(node, false);
  to.append(copy);
  copyInto(node.shadowRoot ?? node, copy, owner);
}

function isHidden(element: Element): boolean {
  if (element.matches(DROPPED)) return true;
  if (element.getAttribute('aria-hidden') === 'true' && !element.matches('pre,code,table')) return true;
  return typeof element.checkVisibility === 'function' && !element.checkVisibility() && !hasContents(element);
}

/** `display: contents` boxes are no boxes, but what is in them is seen. */
function hasContents(element: Element): boolean {
  return getComputedStyle(element).display === 'contents';
}
