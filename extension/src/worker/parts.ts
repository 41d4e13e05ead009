// Joins events that were too long for one message.
import type { WireMessage } from '../protocol';

interface Whole { slices: (string | undefined)[]; missing: number }

export class Parts {
  private readonly open = new Map<string, Whole>();

  /** The event itself, the joined event when this was its last part, or null while parts are missing. */
  take(event: WireMessage): WireMessage | null {
    if (event.type !== 'part') return event;
    const { id, index, count, data } = event;
    if (typeof id !== 'string' || typeof index !== 'number' || typeof count !== 'number' || typeof data !== 'string') {
      return null;
    }
    const whole = this.open.get(id) ?? { slices: new Array<string | undefined>(count).fill(undefined), missing: count };
    this.open.set(id, whole);
    if (index >= whole.slices.length || whole.slices[index] !== undefined) return null;
    whole.slices[index] = data;
    whole.missing -= 1;
    if (whole.missing > 0) return null;
    this.open.delete(id);
    return JSON.parse(whole.slices.join('')) as WireMessage;
  }

  get joining(): boolean {
    return this.open.size > 0;
  }

  clear(): void {
    this.open.clear();
  }
}
