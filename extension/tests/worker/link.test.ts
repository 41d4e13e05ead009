// The one native port: handshake, deadlines, the browser's errors told apart, and how often it is tried again.
import { beforeEach, describe, expect, test } from 'vitest';
import type { LinkStatus } from '../../src/channel';
import { type Op, PROTOCOL, SCHEMA_HASH, type WireMessage } from '../../src/protocol';
import { type Attempts, NO_ATTEMPTS } from '../../src/worker/backoff';
import { Link } from '../../src/worker/link';
import { Clock } from '../support/clock';
import { HOST, id, LIMITS, submit } from '../support/make';
import { FarPort } from '../support/port';

let clock: Clock;
let ports: FarPort[];
let statuses: LinkStatus[];
let events: WireMessage[];
let attempts: Attempts;
let reason: string;
let mismatches: number;
let link: Link;

function newLink(): Link {
  return new Link({
    connect: () => {
      const port = new FarPort();
      ports.push(port);
      return port.port;
    },
    lastError: () => reason,
    now: clock.now,
    after: clock.after,
    attempts: { get: () => attempts, set: (next) => (attempts = next) },
    clientId: () => 'profile',
    onStatus: (status) => statuses.push(status),
    onEvent: (event) => events.push(event),
    onMismatch: () => {
      mismatches += 1;
    },
  });
}

beforeEach(() => {
  clock = new Clock();
  ports = [];
  statuses = [];
  events = [];
  attempts = NO_ATTEMPTS;
  reason = '';
  mismatches = 0;
  link = newLink();
});

const port = (): FarPort => ports.at(-1) as FarPort;
const hello = (): string => String(port().posted[0]?.['submissionId']);
function greet(): void {
  port().say({
    type: 'initialized', submissionId: hello(), protocol: PROTOCOL, schemaHash: 'other', host: HOST, limits: LIMITS, capabilities: ['ping'],
  });
}
function serve(): void {
  greet();
  port().say({ type: 'store.ready', storeId: 'store-1' });
}
function fail(text: string): void {
  reason = text;
  port().break();
}

describe('the handshake', () => {
  test('begins with initialize, under the profile’s client', () => {
    link.open(false);
    expect(port().posted).toMatchObject([{ type: 'initialize', protocol: 'sidekeep/1', schemaHash: SCHEMA_HASH, clientId: 'profile' }]);
  });

  test('goes by connecting, opening, ready, with what the host can do', () => {
    link.open(false);
    greet();
    port().say({ type: 'host.busy', what: 'migrating', pct: 40 });
    port().say({ type: 'store.ready', storeId: 'store-1' });
    expect(statuses.map((status) => status.phase)).toEqual(['connecting', 'opening', 'opening', 'ready']);
    expect(statuses[2]).toMatchObject({ what: 'migrating', pct: 40 });
    expect(link.status).toMatchObject({ phase: 'ready', storeId: 'store-1', capabilities: ['ping'], host: HOST });
  });

  test('another schema is no fault', () => {
    link.open(false);
    serve();
    expect([link.status.phase, mismatches]).toEqual(['ready', 0]);
  });

  test('E11: another protocol is told, and not tried again by itself', () => {
    link.open(false);
    port().say({ type: 'fatal.reload_required', submissionId: hello(), protocol: 'sidekeep/2', clientProtocol: PROTOCOL, host: HOST, message: 'm' });
    expect(link.status).toEqual({ phase: 'down', code: 'reload_required', detail: 'm', retryAt: null });
    expect([mismatches, port().disconnected, clock.waiting]).toEqual([1, true, 0]);
  });

  test('a host that says nothing is let go after ten seconds', () => {
    link.open(false);
    clock.move(9_999);
    expect(link.status.phase).toBe('connecting');
    clock.move(1);
    expect(link.status).toMatchObject({ phase: 'down', code: 'silent', retryAt: null });
    expect(port().disconnected).toBe(true);
  });

  test('a long opening is fine while it gives signs of life, and ends without them', () => {
    link.open(false);
    greet();
    for (let second = 0; second < 120; second += 1) {
      clock.move(1_000);
      port().say({ type: 'host.busy', what: 'migrating', pct: second });
    }
    expect(link.status.phase).toBe('opening');
    clock.move(20_000);
    expect(link.status).toMatchObject({ phase: 'down', code: 'silent' });
  });

  test.each([
    ['store_newer', 'refused'],
    ['storage_corrupt', 'refused'],
    ['store_busy', 'refused'],
    ['overloaded', 'opening'],
  ])('E1, E11: a store that answers %s leaves the link %s', (code, phase) => {
    link.open(false);
    greet();
    const probe = port().posted.find((op) => op['type'] === 'storage.status')?.['submissionId'];
    port().say({ type: 'command.rejected', submissionId: probe, code, message: 'why', retryable: false });
    expect(link.status.phase).toBe(phase);
    if (phase === 'refused') expect(link.status).toMatchObject({ code, message: 'why' });
  });
});

describe('why there is no companion', () => {
  test.each([
    ['Specified native messaging host not found.', 'not_found', 200],
    ['Access to the specified native messaging host is forbidden.', 'forbidden', 200],
    ['Native host has exited.', 'exited', 200],
    ['Error when communicating with the native messaging host.', 'communication', 200],
    ['Failed to start native messaging host.', 'start_failed', 200],
    ['Invalid native messaging host name specified.', 'invalid_name', null],
    ['Something new', 'unknown', 200],
  ])('“%s” is %s', (text, code, wait) => {
    link.open(false);
    fail(text);
    expect(link.status).toEqual({ phase: 'down', code, detail: text, retryAt: wait === null ? null : clock.now() + wait });
  });

  test('an origin that is not accepted is told by the host before it ends', () => {
    link.open(false);
    port().say({ type: 'error', code: 'forbidden_origin', message: 'not yours', retryable: false });
    fail('Native host has exited.');
    expect(link.status).toMatchObject({ phase: 'down', code: 'forbidden_origin', detail: 'not yours', retryAt: null });
  });
});

describe('E41: trying again', () => {
  test('waits longer each time and gives up after six deaths', () => {
    link.open(false);
    const waits: (number | null)[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      fail('Native host has exited.');
      const status = link.status as Extract<LinkStatus, { phase: 'down' }>;
      waits.push(status.retryAt === null ? null : status.retryAt - clock.now());
      clock.move(status.retryAt === null ? 0 : status.retryAt - clock.now());
    }
    expect(waits).toEqual([200, 1_000, 2_000, 5_000, 51_800, null]);
    clock.move(3_600_000);
    expect(ports).toHaveLength(6);
  });

  test('starts at most five processes a minute, whatever happens', () => {
    link.open(false);
    const startedAt = [clock.now()];
    for (let turn = 0; turn < 60; turn += 1) {
      // Each time it lives long enough to be ready, and then dies.
      serve();
      fail('Native host has exited.');
      const before = ports.length;
      while (ports.length === before) clock.move(100);
      startedAt.push(clock.now());
    }
    for (const from of startedAt) expect(startedAt.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(5);
  });

  test('where nothing is started it goes on for nine minutes: an installation is noticed', () => {
    link.open(false);
    const from = clock.now();
    let tries = 0;
    for (let retryAt: number | null = from; retryAt !== null; ) {
      clock.move(retryAt - clock.now());
      tries += 1;
      fail('Specified native messaging host not found.');
      ({ retryAt } = link.status as Extract<LinkStatus, { phase: 'down' }>);
    }
    expect([tries, ports.length]).toEqual([42, 42]);
    // 0.2 + 1 + 2 + 5 + 10 + 36 × 15 s
    expect(clock.now() - from).toBe(558_200);
    expect(attempts.starts).toEqual([]);
  });

  test('the store being ready makes the next death the first again', () => {
    link.open(false);
    fail('Native host has exited.');
    clock.move(200);
    serve();
    fail('Native host has exited.');
    expect((link.status as { retryAt: number }).retryAt - clock.now()).toBe(200);
  });

  test('given up, only a person begins again', () => {
    attempts = { ...NO_ATTEMPTS, failures: 6, gaveUp: 'exited' };
    link.open(false);
    expect(ports).toHaveLength(0);
    expect(link.status).toMatchObject({ phase: 'down', code: 'exited', retryAt: null });
    link.open(true);
    expect(ports).toHaveLength(1);
  });

  test('an open panel does not hurry a wait, a person does', () => {
    link.open(false);
    fail('Native host has exited.');
    link.open(false);
    expect(ports).toHaveLength(1);
    link.open(true);
    expect(ports).toHaveLength(2);
    clock.move(60_000);
    expect(ports).toHaveLength(2);
  });
});

describe('E40: a host that has gone quiet', () => {
  beforeEach(() => {
    link.open(false);
    serve();
  });

  test('is left alone while nothing is asked of it', () => {
    const sent = port().posted.length;
    // The probe of the opening is answered.
    port().say({ type: 'result', submissionId: port().posted[1]?.['submissionId'], data: {} });
    clock.move(3_600_000);
    expect(port().posted).toHaveLength(sent);
    expect(link.status.phase).toBe('ready');
  });

  test('is pinged when it owes an answer, and let go when it does not even answer that', () => {
    link.send(submit(1));
    clock.move(30_000);
    expect(port().posted.at(-1)).toMatchObject({ type: 'ping' });
    clock.move(10_000);
    expect(link.status).toMatchObject({ phase: 'down', code: 'silent' });
    expect((link.status as { retryAt: number | null }).retryAt).not.toBeNull();
  });

  test('lives on with any sign of life', () => {
    link.send(submit(1));
    clock.move(30_000);
    port().say({ type: 'pong', submissionId: port().posted.at(-1)?.['submissionId'] });
    clock.move(29_000);
    expect(link.status.phase).toBe('ready');
  });
});

describe('the port', () => {
  test('words of a port that was let go are not heard', () => {
    link.open(false);
    const old = port();
    serve();
    link.close();
    link.open(true);
    old.say({ type: 'thread.updated', threadId: id(1), revision: 1, patch: {} });
    old.break();
    expect(events).toEqual([]);
    expect(ports).toHaveLength(2);
    expect(link.status.phase).toBe('connecting');
  });

  test('without a host nothing is sent, and the caller knows', () => {
    expect(link.send(submit(1) as Op)).toBe(false);
  });

  test('E55: a message in parts is one event', () => {
    link.open(false);
    serve();
    const text = JSON.stringify({ type: 'result', submissionId: id(5), data: { text: 'é😀'.repeat(50) } });
    const cut = [text.slice(0, 40), text.slice(40, 90), text.slice(90)];
    cut.forEach((data, index) => port().say({ type: 'part', id: 'p', index, count: 3, data }));
    expect(events).toEqual([JSON.parse(text)]);
  });
});
