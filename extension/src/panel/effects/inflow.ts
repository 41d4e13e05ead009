// Takes events in at the pace of the screen: pieces of an answer that come within one frame are shown together.
import { batch } from '@preact/signals';

/** Milliseconds after which events are taken without a frame. */
const AT_LATEST = 100;

export class Inflow<Event> {
  private waiting: Event[] = [];
  private cancel: (() => void) | null = null;

  constructor(
    /** Whether an event can wait for the next frame. */
    private readonly canWait: (event: Event) => boolean,
    private readonly take: (event: Event) => void,
  ) {}

  /** Order is kept: what cannot wait takes along what waits before it. */
  push(event: Event): void {
    this.waiting.push(event);
    if (!this.canWait(event)) this.flush();
    else this.cancel ??= soon(() => this.flush());
  }

  flush(): void {
    this.cancel?.();
    this.cancel = null;
    const events = this.waiting;
    this.waiting = [];
    batch(() => events.forEach(this.take));
  }
}

/** A hidden panel has no frames, and one that was asked for just before it was hidden never comes. */
function soon(run: () => void): () => void {
  const timer = setTimeout(run, AT_LATEST);
  const frame = requestAnimationFrame(run);
  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
}
