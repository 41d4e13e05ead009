// The far end of a browser port: what was posted to it, and what it says.
type Listener<T> = (message: T) => void;

class Listeners<T> {
  private readonly all = new Set<Listener<T>>();
  readonly addListener = (listener: Listener<T>): void => void this.all.add(listener);
  readonly removeListener = (listener: Listener<T>): void => void this.all.delete(listener);
  readonly tell = (message: T): void => this.all.forEach((listener) => listener(message));
}

export class FarPort {
  readonly posted: Record<string, unknown>[] = [];
  readonly onMessage = new Listeners<unknown>();
  readonly onDisconnect = new Listeners<unknown>();
  disconnected = false;

  constructor(readonly name = '') {}

  readonly postMessage = (message: Record<string, unknown>): void => {
    if (this.disconnected) throw new Error('Attempting to use a disconnected port object');
    // A port copies what it carries.
    this.posted.push(structuredClone(message));
  };

  readonly disconnect = (): void => {
    this.disconnected = true;
  };

  say(message: unknown): void {
    this.onMessage.tell(structuredClone(message));
  }

  break(): void {
    this.disconnected = true;
    this.onDisconnect.tell(this);
  }

  get port(): chrome.runtime.Port {
    return this as unknown as chrome.runtime.Port;
  }
}
