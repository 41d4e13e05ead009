// Whether a scroller that keeps its end in sight was moved by a person or by its own growing rows.

/** So near to the end counts as being there; pixels. */
const NEAR = 80;
/** A browser rounds positions. */
const ROUNDING = 2;
/** So long after a turn of the wheel the scroller may still glide; milliseconds. */
const GLIDE = 1_000;

/** Where a scroller stands, how long its content is, and how much of it shows; pixels. */
export interface Standing {
  offset: number;
  size: number;
  window: number;
}

export function isNear({ offset, size, window }: Standing): boolean {
  return size - offset - window < NEAR;
}

/**
 * Whether somebody has scrolled up since `before`.
 *
 * Rows that are measured for the first time move the offset, too, and change the size with it; only then does it count
 * whether a hand was at the scroller.
 */
export function movedUp(before: Standing, now: Standing, hands: boolean): boolean {
  if (isNear(now) || now.offset >= before.offset - ROUNDING) return false;
  return hands || (now.size === before.size && now.window === before.window);
}

/** Listens for whatever scrolls by hand: wheel, touch, keys, and the bar while it is held. */
export function watchHands(scroller: HTMLElement): { handsOn: () => boolean; stop: () => void } {
  const gone = new AbortController();
  const options = { passive: true, signal: gone.signal };
  let last = Number.NEGATIVE_INFINITY;
  let held = false;
  const acted = (): void => {
    last = performance.now();
  };
  for (const kind of ['wheel', 'touchmove', 'keydown']) scroller.addEventListener(kind, acted, options);
  scroller.addEventListener(
    'pointerdown',
    () => {
      held = true;
    },
    options,
  );
  for (const kind of ['pointerup', 'pointercancel']) {
    scroller.ownerDocument.addEventListener(
      kind,
      () => {
        held = false;
        acted();
      },
      options,
    );
  }
  return { handsOn: () => held || performance.now() - last < GLIDE, stop: () => gone.abort() };
}
