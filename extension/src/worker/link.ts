// The life of the one native port: start, handshake, deadlines, parts, and what to do when it ends.
import type { LinkCode, LinkStatus } from '../channel';
import { newId } from '../ids';
import {
  type HostInfo, isAnswer, type Op, type PortLimits, PROTOCOL, SCHEMA_HASH, type WireMessage,
} from '../protocol';
import { askedFor, type Attempts, failed, started, succeeded } from './backoff';
import { causeOf, startedNothing } from './causes';
import { Parts } from './parts';

/** What the link needs of the browser. */
export interface Surroundings {
  connect(): chrome.runtime.Port;
  /** The browser's reason, to be read inside the disconnect listener. */
  lastError(): string;
  now(): number;
  after(milliseconds: number, run: () => void): () => void;
  attempts: { get(): Attempts; set(attempts: Attempts): void };
  clientId(): string;
  onStatus(status: LinkStatus): void;
  onEvent(event: WireMessage): void;
  /** The host speaks another protocol. */
  onMismatch(host: HostInfo): void;
}

const HELLO_DEADLINE = 10_000;
const QUIET_WHILE_OPENING = 20_000;
const QUIET_WHILE_ASKED = 30_000;
const PONG_DEADLINE = 10_000;
/** A refusal of the store itself, given to every op. */
const REFUSED_STORE: ReadonlySet<string> = new Set(['store_newer', 'storage_corrupt']);

export class Link {
  status: LinkStatus = { phase: 'connecting' };
  private port: chrome.runtime.Port | null = null;
  private readonly parts = new Parts();
  private readonly unanswered = new Set<string>();
  private hello = '';
  private probe = '';
  private foreseen: { code: LinkCode; detail: string } | null = null;
  private cancelRetry: (() => void) | null = null;
  private cancelDeadline: (() => void) | null = null;

  constructor(private readonly around: Surroundings) {}

  /** True while a message that came in parts is incomplete. */
  get joining(): boolean {
    return this.parts.joining;
  }

  get isOpen(): boolean {
    return this.port !== null;
  }

  /** Connects unless connected, waiting for a retry, or given up. `asked`: a person wants it now. */
  open(asked: boolean): void {
    if (this.port) return;
    if (asked) {
      this.around.attempts.set(askedFor(this.around.attempts.get()));
    } else {
      const { gaveUp } = this.around.attempts.get();
      if (gaveUp) return this.show({ phase: 'down', code: gaveUp, detail: '', retryAt: null });
      if (this.cancelRetry) return undefined;
    }
    this.connect();
    return undefined;
  }

  send(op: Op): boolean {
    if (!this.port) return false;
    this.unanswered.add(op.submissionId);
    this.port.postMessage(op);
    if (this.status.phase === 'ready') this.watch();
    return true;
  }

  /** Lets the host go. Nothing is lost by it: it ends by itself when its input ends. */
  close(): void {
    this.cancelRetry?.();
    this.cancelRetry = null;
    const port = this.port;
    this.forget();
    port?.disconnect();
    this.show({ phase: 'connecting' });
  }

  private connect(): void {
    this.cancelRetry?.();
    this.cancelRetry = null;
    this.around.attempts.set(started(this.around.attempts.get(), this.around.now()));
    this.show({ phase: 'connecting' });
    const port = this.around.connect();
    this.port = port;
    port.onMessage.addListener((message: WireMessage) => {
      if (this.port === port) this.receive(message);
    });
    port.onDisconnect.addListener(() => {
      const detail = this.around.lastError();
      if (this.port === port) this.ended(this.foreseen?.code ?? causeOf(detail), this.foreseen?.detail ?? detail);
    });
    this.hello = newId();
    this.deadline(HELLO_DEADLINE, () => this.giveUpOn('silent', ''));
    port.postMessage({
      type: 'initialize',
      submissionId: this.hello,
      protocol: PROTOCOL,
      schemaHash: SCHEMA_HASH,
      clientId: this.around.clientId(),
    });
  }

  private receive(message: WireMessage): void {
    const event = this.parts.take(message);
    if (this.status.phase === 'opening') this.deadline(QUIET_WHILE_OPENING, () => this.giveUpOn('silent', ''));
    else if (this.status.phase === 'ready') this.watch();
    if (!event) return;
    if (event.submissionId) this.unanswered.delete(event.submissionId);
    if (event.submissionId === this.hello && this.hello) return this.greeted(event);
    if (isAnswer(event) && event.submissionId === this.probe) return this.probed(event);
    switch (event.type) {
      case 'host.busy':
        return this.busy(event);
      case 'store.ready':
        return this.ready(event);
      case 'error':
        if (event['code'] === 'forbidden_origin') {
          this.foreseen = { code: 'forbidden_origin', detail: String(event['message'] ?? '') };
        }
    }
    return this.around.onEvent(event);
  }

  private greeted(event: WireMessage): void {
    this.hello = '';
    const host = event['host'] as HostInfo;
    if (event.type !== 'initialized') {
      const mismatch = event.type === 'fatal.reload_required';
      this.giveUpOn(mismatch ? 'reload_required' : 'unknown', String(event['message'] ?? ''));
      if (mismatch) this.around.onMismatch(host);
      return;
    }
    this.capabilities = event['capabilities'] as string[];
    this.limits = event['limits'] as PortLimits;
    this.show({ phase: 'opening', host });
    this.deadline(QUIET_WHILE_OPENING, () => this.giveUpOn('silent', ''));
    // A store that is refused says so only when asked.
    this.probe = newId();
    this.port?.postMessage({ type: 'storage.status', submissionId: this.probe });
  }

  private capabilities: readonly string[] = [];
  private limits: PortLimits = {
    messageBytes: 8 << 20, uploadBytes: 64 << 20, chunkBytes: 1 << 18, snapshotNodes: 200, queue: 8, waitingOps: 32,
  };

  private busy(event: WireMessage): void {
    if (this.status.phase !== 'opening') return;
    const { what, pct } = event;
    this.show({
      phase: 'opening',
      host: this.status.host,
      ...(typeof what === 'string' ? { what } : {}),
      ...(typeof pct === 'number' ? { pct } : {}),
    });
  }

  private ready(event: WireMessage): void {
    if (!('host' in this.status)) return;
    this.cancelDeadline?.();
    this.around.attempts.set(succeeded(this.around.attempts.get()));
    this.show({
      phase: 'ready',
      host: this.status.host,
      storeId: String(event['storeId']),
      capabilities: this.capabilities,
      limits: this.limits,
    });
  }

  private probed(event: WireMessage): void {
    this.probe = '';
    const code = String(event['code'] ?? '');
    const refused = REFUSED_STORE.has(code) || (code === 'store_busy' && this.status.phase === 'opening');
    if (event.type !== 'command.rejected' || !refused || !('host' in this.status)) return;
    this.cancelDeadline?.();
    this.show({ phase: 'refused', host: this.status.host, code, message: String(event['message'] ?? '') });
  }

  /** With answers outstanding, a host that has gone quiet is asked for a sign of life, and then let go. */
  private watch(): void {
    if (this.unanswered.size === 0) {
      this.cancelDeadline?.();
      this.cancelDeadline = null;
      return;
    }
    this.deadline(QUIET_WHILE_ASKED, () => {
      this.port?.postMessage({ type: 'ping', submissionId: newId() });
      this.deadline(PONG_DEADLINE, () => this.giveUpOn('silent', '', 'exited'));
    });
  }

  private deadline(milliseconds: number, run: () => void): void {
    this.cancelDeadline?.();
    this.cancelDeadline = this.around.after(milliseconds, run);
  }

  private giveUpOn(code: LinkCode, detail: string, judgedAs: LinkCode = code): void {
    const port = this.port;
    this.ended(code, detail, judgedAs);
    port?.disconnect();
  }

  private ended(code: LinkCode, detail: string, judgedAs: LinkCode = code): void {
    this.forget();
    const now = this.around.now();
    const { attempts, wait } = failed(this.around.attempts.get(), judgedAs, now);
    this.around.attempts.set(attempts);
    this.show({ phase: 'down', code, detail, retryAt: wait === null ? null : now + wait });
    if (wait === null) return;
    this.cancelRetry = this.around.after(wait, () => {
      this.cancelRetry = null;
      this.open(false);
    });
  }

  /** True when a try now costs no process, so that an open panel may ask as often as it likes. */
  get isCheap(): boolean {
    return this.status.phase === 'down' && startedNothing(this.status.code);
  }

  private forget(): void {
    this.cancelDeadline?.();
    this.cancelDeadline = null;
    this.port = null;
    this.hello = '';
    this.probe = '';
    this.foreseen = null;
    this.parts.clear();
    this.unanswered.clear();
  }

  private show(status: LinkStatus): void {
    this.status = status;
    this.around.onStatus(status);
  }
}
