// A whole service worker without the browser: its link, relay and outbox, with the host's end of the port in hand.
import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { vi } from 'vitest';
import type { FromWorker } from '../../src/channel';
import type { Entry } from '../../src/outbox/entry';
import type { Op, WireMessage } from '../../src/protocol';
import { type Attempts, NO_ATTEMPTS } from '../../src/worker/backoff';
import { Link } from '../../src/worker/link';
import { type Panel, Relay } from '../../src/worker/relay';
import { Clock } from './clock';
import { entry, HOST, LIMITS } from './make';
import { FarPort } from './port';

export class Window implements Panel {
  heard: FromWorker[] = [];
  constructor(readonly clientId: string) {}
  post(message: FromWorker): void {
    this.heard.push(message);
  }
  get events(): WireMessage[] {
    return this.heard.flatMap((message) => (message.kind === 'event' ? [message.event] : []));
  }
}

type Outbox = typeof import('../../src/outbox/outbox').outbox;

export class Worker {
  readonly ports: FarPort[] = [];
  readonly link: Link;
  readonly relay: Relay;
  reason = '';
  private attempts: Attempts = NO_ATTEMPTS;
  private seen = 0;

  private constructor(readonly clock: Clock, readonly outbox: Outbox) {
    this.link = new Link({
      connect: () => {
        const port = new FarPort();
        this.ports.push(port);
        this.seen = 0;
        return port.port;
      },
      lastError: () => this.reason,
      now: clock.now,
      after: clock.after,
      attempts: { get: () => this.attempts, set: (next) => (this.attempts = next) },
      clientId: () => 'profile',
      onStatus: (status) => this.relay.changed(status),
      onEvent: (event) => this.relay.received(event),
      onMismatch: () => undefined,
    });
    this.relay = new Relay(this.link, outbox, clock);
  }

  /** One on an empty browser. */
  static async fresh(): Promise<Worker> {
    globalThis.indexedDB = new IDBFactory();
    return Worker.started(new Clock());
  }

  /** The next one in the same browser: only what is on the disk is left. */
  static async started(clock: Clock): Promise<Worker> {
    vi.resetModules();
    const { outbox } = await import('../../src/outbox/outbox');
    await outbox.warm();
    return new Worker(clock, outbox);
  }

  get port(): FarPort {
    return this.ports.at(-1) as FarPort;
  }

  /** The host begins to serve; what was left in the outbox has gone out when this returns. */
  async serve(storeId = 'store-1'): Promise<void> {
    this.link.open(true);
    const submissionId = this.port.posted[0]?.['submissionId'];
    this.port.say({
      type: 'initialized', submissionId, protocol: 'sidekeep/1', schemaHash: '', host: HOST, limits: LIMITS, capabilities: [],
    });
    this.port.say({ type: 'store.ready', storeId });
    await this.settled();
  }

  die(reason = 'Native host has exited.'): void {
    this.reason = reason;
    this.port.break();
  }

  say(message: WireMessage): void {
    this.port.say(message);
  }

  /** The ops that went out since the last look, without the link's own. */
  sent(): Op[] {
    const all = this.port.posted.filter((op) => op['type'] !== 'initialize' && op['type'] !== 'storage.status') as unknown as Op[];
    const fresh = all.slice(this.seen);
    this.seen = all.length;
    return fresh;
  }

  keep(op: Op, changes: Partial<Entry> = {}): Promise<void> {
    return this.outbox.put([entry(op, { writtenAt: this.clock.now(), ...changes })]);
  }

  /** Transactions of one database run in their order: these come after all that were asked for. */
  async settled(): Promise<void> {
    for (let round = 0; round < 4; round += 1) await this.outbox.all();
  }
}
