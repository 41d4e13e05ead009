// Carries ops from all panels to the one host, and its answers and events back; sends the outbox again.
import type { FromWorker, LinkStatus, ToWorker } from '../channel';
import { newId } from '../ids';
import { afterRejection, againIn, type Entry, standing } from '../outbox/entry';
import { isAnswer, isKept, type NotConnected, type Op, threadOf, type WireMessage } from '../protocol';
import { Subscriptions } from './subscriptions';

type Answer = WireMessage & { readonly submissionId: string };

/** A panel's end of the channel. */
export interface Panel {
  clientId: string;
  post(message: FromWorker): void;
}

export interface Carrier {
  readonly status: LinkStatus;
  readonly joining: boolean;
  send(op: Op): boolean;
}

/** The part of the outbox that the relay uses. */
export interface Kept {
  all(): Promise<Entry[]>;
  get(submissionId: string): Promise<Entry | undefined>;
  remove(submissionId: string): Promise<void>;
  refuse(submissionId: string, refusal: NonNullable<Entry['refusal']>): Promise<void>;
}

export class Relay {
  readonly panels = new Set<Panel>();
  private readonly watching = new Subscriptions<Panel>();
  private readonly askers = new Map<string, Panel>();
  /** What tools want of the browser, and the panel that does it. */
  private readonly browsing = new Map<string, { panel: Panel; event: WireMessage }>();
  private readonly inFlight = new Map<string, Op>();
  private readonly tries = new Map<string, number>();
  /** Commands behind the creation of their thread: were it refused for a moment, they would be refused for good. */
  private readonly behind = new Map<string, Op[]>();
  private waiting: Op[] = [];
  private drained = false;

  constructor(
    private readonly link: Carrier,
    private readonly outbox: Kept,
    private readonly around: { now(): number; after(milliseconds: number, run: () => void): () => void },
  ) {}

  get isBusy(): boolean {
    return this.inFlight.size > 0 || this.tries.size > 0;
  }

  joined(panel: Panel): void {
    this.panels.add(panel);
    panel.post({ kind: 'link', status: this.link.status });
  }

  gone(panel: Panel): void {
    this.panels.delete(panel);
    for (const { panel: doing, event } of [...this.browsing.values()]) if (doing === panel) this.browse(event);
    for (const [submissionId, asker] of this.askers) if (asker === panel) this.askers.delete(submissionId);
    for (const threadId of this.watching.gone(panel)) {
      if (!this.drained) break;
      this.link.send({ type: 'thread.unsubscribe', submissionId: newId(), clientId: panel.clientId, threadId });
    }
  }

  take(panel: Panel, message: ToWorker): void {
    if (message.kind !== 'op') return;
    const { op } = message;
    if (op.type === 'browser.response') this.browsing.delete(op.requestId);
    this.askers.set(op.submissionId, panel);
    if (this.drained) return this.send(op);
    const { phase } = this.link.status;
    if (phase === 'refused' && !isKept(op.type)) return this.send(op);
    if (phase === 'connecting' || phase === 'opening' || phase === 'ready') this.waiting.push(op);
    else if (!isKept(op.type)) this.refuseHere(op);
  }

  changed(status: LinkStatus): void {
    this.toAll({ kind: 'link', status });
    if (status.phase === 'ready') void this.drain(status.storeId);
    else if (status.phase === 'refused') this.flush();
    else if (status.phase === 'down') this.lost();
    else this.drained = false;
  }

  /** Everything that was never answered, in the order of writing, before anything new. */
  private async drain(storeId: string): Promise<void> {
    const entries = await this.outbox.all();
    if (this.link.status.phase !== 'ready' || this.drained) return;
    for (const entry of entries) {
      if (standing(entry, storeId, this.around.now()) === 'waiting') this.send(entry.op);
    }
    this.drained = true;
    this.flush();
  }

  private flush(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const op of waiting) if (this.drained || !isKept(op.type)) this.send(op);
  }

  private send(op: Op): void {
    if (isKept(op.type)) {
      if (this.inFlight.has(op.submissionId)) return;
      const threadId = threadOf(op);
      if (threadId !== undefined) {
        const behind = this.behind.get(threadId);
        if (behind && op.type !== 'thread.create') {
          if (!behind.some((each) => each.submissionId === op.submissionId)) behind.push(op);
          return;
        }
        if (op.type === 'thread.create') this.behind.set(threadId, behind ?? []);
      }
      this.inFlight.set(op.submissionId, op);
    }
    const asker = this.askers.get(op.submissionId);
    if (asker && op.type === 'thread.subscribe') this.watching.asking(asker, op.submissionId, op.threadId);
    if (asker && op.type === 'thread.unsubscribe') this.watching.left(asker, op.threadId);
    if (!this.link.send(op) && !isKept(op.type)) this.refuseHere(op);
  }

  received(event: WireMessage): void {
    if (isAnswer(event)) return this.answered(event);
    if (event.type === 'browser.request') return this.browse(event);
    for (const panel of this.watching.receivers(event, this.panels, this.link.joining)) {
      panel.post({ kind: 'event', event });
    }
    return undefined;
  }

  /** One panel does it: the one that shows the conversation, else the newest. Where none is open, that is the answer. */
  private browse(event: WireMessage): void {
    const requestId = String(event['requestId']);
    const panel = this.watching.watchers(event.threadId ?? '', this.panels).at(-1) ?? [...this.panels].at(-1);
    if (panel) {
      this.browsing.set(requestId, { panel, event });
      panel.post({ kind: 'event', event });
      return;
    }
    this.browsing.delete(requestId);
    const error = { code: 'panel_closed', message: 'The side panel is closed, so pages cannot be read.' };
    this.link.send({ type: 'browser.response', submissionId: newId(), requestId, ok: false, error });
  }

  private answered(answer: Answer): void {
    const { submissionId } = answer;
    const asker = this.askers.get(submissionId);
    this.askers.delete(submissionId);
    const command = this.inFlight.get(submissionId);
    if (command) {
      // Every panel hears of commands: the one that sent it may be gone, and all show what is not saved yet.
      this.toAll({ kind: 'event', event: answer });
      void this.settle(command, answer);
      return;
    }
    const held = this.watching.answered(submissionId, answer.type === 'result');
    asker?.post({ kind: 'event', event: answer });
    for (const event of held) asker?.post({ kind: 'event', event });
  }

  private async settle(op: Op, answer: Answer): Promise<void> {
    const { submissionId } = op;
    this.inFlight.delete(submissionId);
    const code = String(answer['code'] ?? 'internal');
    const rejected = answer.type === 'command.rejected';
    const verdict = rejected ? afterRejection(op.type, code, answer['retryable'] === true) : 'drop';
    if (verdict === 'again') return this.sendLater(op);
    this.tries.delete(submissionId);
    if (verdict !== 'hold') this.created(op);
    if (verdict === 'drop') await this.outbox.remove(submissionId);
    if (verdict === 'keep') await this.outbox.refuse(submissionId, { code, message: String(answer['message'] ?? '') });
    this.toAll({ kind: 'outbox' });
    return undefined;
  }

  private sendLater(op: Op): void {
    const tries = (this.tries.get(op.submissionId) ?? 0) + 1;
    this.tries.set(op.submissionId, tries);
    this.around.after(againIn(tries), () => {
      // It may have been thrown away meanwhile, or sent by a drain.
      void this.outbox.get(op.submissionId).then((entry) => {
        if (!entry) this.tries.delete(op.submissionId);
        else if (this.drained) this.send(op);
      });
    });
  }

  /** The thread is there (or was before): what waited behind its creation may go. */
  private created(op: Op): void {
    const threadId = threadOf(op);
    if (op.type !== 'thread.create' || threadId === undefined) return;
    const behind = this.behind.get(threadId) ?? [];
    this.behind.delete(threadId);
    for (const each of behind) this.send(each);
  }

  private lost(): void {
    this.drained = false;
    this.inFlight.clear();
    this.behind.clear();
    this.tries.clear();
    this.watching.clear();
    this.browsing.clear();
    const waiting = this.waiting;
    this.waiting = [];
    for (const op of waiting) if (!isKept(op.type)) this.refuseHere(op);
    // Queries that were under way are asked again by their panels once they hear of a new host.
    for (const [submissionId, panel] of this.askers) {
      panel.post({ kind: 'event', event: notConnected(submissionId) });
    }
    this.askers.clear();
  }

  private refuseHere(op: Op): void {
    this.askers.get(op.submissionId)?.post({ kind: 'event', event: notConnected(op.submissionId) });
    this.askers.delete(op.submissionId);
  }

  toAll(message: FromWorker): void {
    for (const panel of this.panels) panel.post(message);
  }
}

function notConnected(submissionId: string): NotConnected & WireMessage {
  return { type: 'local.not_connected', submissionId };
}
