// Scrolls a page piece by piece for a picture of all of it, and leaves it as it was.
export interface Strips {
  /** Of the part that scrolls, in CSS pixels of the window. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Of all that it holds. */
  readonly fullHeight: number;
  readonly windowWidth: number;
}

interface Kept {
  readonly scroller: Element;
  readonly top: number;
  readonly sheet: HTMLStyleElement;
  readonly pinned: HTMLElement[];
}

const PINNED = 'data-sidekeep-pinned';
const STILL = `*,*::before,*::after{scroll-behavior:auto!important;transition:none!important;animation-play-state:paused!important;caret-color:transparent!important}[${PINNED}]{visibility:hidden!important}`;
const FRAME_AT_LATEST = 250;
/** An inner part that scrolls stands for the page when it fills this much of the window. */
const SHARE = 0.5;

let kept: Kept | null = null;

export function prepare(): Strips {
  leave();
  const scroller = scrollerOf();
  const sheet = document.createElement('style');
  sheet.textContent = STILL;
  document.documentElement.append(sheet);
  kept = { scroller, top: scroller.scrollTop, sheet, pinned: [] };
  return measure(scroller);
}

/** Scrolls so that `y` of its contents is at the upper edge, as far as it goes; where it stands then. */
export async function goTo(y: number): Promise<Strips & { readonly y: number }> {
  if (!kept) prepare();
  const { scroller, pinned } = kept as Kept;
  // What does not scroll along is taken once, with the first piece.
  if (y > 0 && pinned.length === 0) for (const element of pinnedIn(scroller)) {
    element.setAttribute(PINNED, '');
    pinned.push(element);
  }
  scroller.scrollTop = y;
  await drawn();
  await drawn();
  return { ...measure(scroller), y: scroller.scrollTop };
}

export function leave(): void {
  if (!kept) return;
  const { scroller, top, sheet, pinned } = kept;
  kept = null;
  for (const element of pinned) element.removeAttribute(PINNED);
  scroller.scrollTop = top;
  sheet.remove();
}

function scrollerOf(): Element {
  const root = document.scrollingElement ?? document.documentElement;
  if (root.scrollHeight > innerHeight + 1) return root;
  const inner = [...document.querySelectorAll('*')].filter(
    (element) =>
      element.scrollHeight > element.clientHeight + 1 &&
      element.clientWidth * element.clientHeight >= innerWidth * innerHeight * SHARE &&
      /auto|scroll|overlay/.test(getComputedStyle(element).overflowY),
  );
  return inner.toSorted((a, b) => b.scrollHeight - a.scrollHeight)[0] ?? root;
}

function measure(scroller: Element): Strips {
  const whole = scroller === (document.scrollingElement ?? document.documentElement);
  const box = whole ? { left: 0, top: 0 } : scroller.getBoundingClientRect();
  return {
    left: box.left + (whole ? 0 : scroller.clientLeft),
    top: box.top + (whole ? 0 : scroller.clientTop),
    width: whole ? document.documentElement.clientWidth : scroller.clientWidth,
    height: whole ? innerHeight : scroller.clientHeight,
    fullHeight: Math.max(scroller.scrollHeight, whole ? innerHeight : scroller.clientHeight),
    windowWidth: innerWidth,
  };
}

function pinnedIn(scroller: Element): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('body *')].filter((element) => {
    const { position } = getComputedStyle(element);
    return (position === 'fixed' || position === 'sticky') && !element.contains(scroller);
  });
}

/** A window that is covered draws no frames. */
function drawn(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_AT_LATEST);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
