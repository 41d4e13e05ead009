// Between panels and host: order, resending, and who hears what.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Entry } from '../../src/outbox/entry';
import type { Op, WireMessage } from '../../src/protocol';
import { create, id, submit, THREAD } from '../support/make';
import { Window, Worker } from '../support/worker';

let worker: Worker;
let panel: Window;

beforeEach(async () => {
  worker = await Worker.fresh();
  panel = new Window('panel-1');
  worker.relay.joined(panel);
});

const keep = (op: Op, changes: Partial<Entry> = {}): Promise<void> => worker.keep(op, changes);
const sent = (): string[] => worker.sent().map((op) => op.submissionId);
const kept = async (): Promise<string[]> => (await worker.outbox.all()).map((each) => each.submissionId);
const ack = (op: Op): WireMessage => ({ type: 'command.ack', submissionId: op.submissionId });
const reject = (op: Op, code: string, retryable: boolean): WireMessage => ({
  type: 'command.rejected', submissionId: op.submissionId, code, message: code, retryable,
});
async function say(message: WireMessage): Promise<void> {
  worker.say(message);
  await worker.settled();
}
async function pass(milliseconds: number): Promise<void> {
  worker.clock.move(milliseconds);
  await worker.settled();
}
const LIST: Op = { type: 'thread.list', submissionId: id(20), limit: 10 };

describe('resending', () => {
  test('E34: what was not answered is sent again with the same submission, in the order of writing', async () => {
    for (const op of [submit(3), submit(1), submit(2)]) await keep(op);
    await worker.serve();
    const first = worker.sent();
    expect(first).toEqual([submit(3), submit(1), submit(2)]);
    worker.die();
    await worker.serve();
    expect(worker.sent()).toEqual(first);
  });

  test('E3: entries of another store, too old ones and refused ones are not sent', async () => {
    await keep(submit(1), { storeId: 'store-2' });
    await keep(submit(2), { writtenAt: worker.clock.now() - 7 * 86_400_000 });
    await keep(submit(3), { refusal: { code: 'conflict', message: '' } });
    await keep(submit(4), { storeId: null });
    await worker.serve();
    expect(sent()).toEqual([id(4)]);
    expect(await kept()).toEqual([id(1), id(2), id(3), id(4)]);
  });

  test('E36: an acknowledged one leaves the outbox and is never sent again', async () => {
    await keep(submit(1));
    await worker.serve();
    await say(ack(submit(1)));
    expect(await kept()).toEqual([]);
    worker.die();
    await worker.serve();
    expect(sent()).toEqual([]);
  });

  test('one that a panel sends while it is under way goes out once', async () => {
    await keep(submit(1));
    await worker.serve();
    worker.relay.take(panel, { kind: 'op', op: submit(1) });
    expect(sent()).toEqual([id(1)]);
  });

  test('a passing refusal is tried again by itself, the same submission, later each time', async () => {
    await keep(submit(1));
    await worker.serve();
    sent();
    for (const wait of [500, 1_000, 2_000]) {
      await say(reject(submit(1), 'store_busy', true));
      await pass(wait - 1);
      expect(sent()).toEqual([]);
      await pass(1);
      expect(sent()).toEqual([id(1)]);
    }
    expect(await kept()).toEqual([id(1)]);
  });

  test('one thrown away meanwhile is not tried again', async () => {
    await keep(submit(1));
    await worker.serve();
    await say(reject(submit(1), 'overloaded', true));
    await worker.outbox.remove(id(1));
    sent();
    await pass(10_000);
    expect([sent(), worker.relay.isBusy]).toEqual([[], false]);
  });

  test('a refusal for good keeps the words and tells every panel', async () => {
    const other = new Window('panel-2');
    worker.relay.joined(other);
    await keep(submit(1));
    await worker.serve();
    await say(reject(submit(1), 'not_found', false));
    expect(await worker.outbox.get(id(1))).toMatchObject({ refusal: { code: 'not_found' } });
    for (const each of [panel, other]) {
      expect(each.events).toMatchObject([{ type: 'command.rejected', submissionId: id(1) }]);
      expect(each.heard.at(-1)).toEqual({ kind: 'outbox' });
    }
  });

  test('a store that was not asked leaves the entry as it is', async () => {
    await keep(submit(1));
    const before = await worker.outbox.all();
    await worker.serve();
    await say(reject(submit(1), 'storage_corrupt', false));
    expect(await worker.outbox.all()).toEqual(before);
  });

  test('E23: nothing is sent for a thread whose creation is not decided', async () => {
    await keep(create(1));
    await keep(submit(2));
    await keep(submit(3, 'elsewhere', id(0xbbb)));
    await worker.serve();
    expect(sent()).toEqual([id(1), id(3)]);
    await say(reject(create(1), 'store_busy', true));
    await pass(500);
    expect(sent()).toEqual([id(1)]);
    await say(ack(create(1)));
    expect(sent()).toEqual([id(2)]);
  });
});

describe('ops of panels', () => {
  test('before the store is ready they wait, and go out in their order behind the outbox', async () => {
    await keep(submit(1));
    worker.relay.take(panel, { kind: 'op', op: LIST });
    await keep(submit(2));
    worker.relay.take(panel, { kind: 'op', op: submit(2) });
    await worker.serve();
    expect(sent()).toEqual([id(1), id(2), id(20)]);
  });

  test('E1: with no host a query is refused at once, a command waits in the outbox', async () => {
    worker.link.open(true);
    worker.die('Specified native messaging host not found.');
    await keep(submit(1));
    worker.relay.take(panel, { kind: 'op', op: LIST });
    worker.relay.take(panel, { kind: 'op', op: submit(1) });
    expect(panel.events).toEqual([{ type: 'local.not_connected', submissionId: id(20) }]);
    await worker.serve();
    expect(sent()).toEqual([id(1)]);
  });

  test('E40: a query that was under way when the host went is answered: nobody waits for ever', async () => {
    await worker.serve();
    worker.relay.take(panel, { kind: 'op', op: LIST });
    worker.die();
    expect(panel.events).toEqual([{ type: 'local.not_connected', submissionId: id(20) }]);
  });

  test('answers to queries go only to the panel that asked', async () => {
    const other = new Window('panel-2');
    worker.relay.joined(other);
    await worker.serve();
    worker.relay.take(other, { kind: 'op', op: LIST });
    await say({ type: 'result', submissionId: id(20), data: {} });
    expect([panel.events.length, other.events.length]).toEqual([0, 1]);
  });
});

describe('D1: two panels', () => {
  const subscribe = (number: number, threadId = THREAD): Op => ({ type: 'thread.subscribe', submissionId: id(number), threadId });
  const delta: WireMessage = { type: 'item.delta', threadId: THREAD, turnId: 't', itemId: 'i', seq: 1, delta: { text: 'x' } };
  let other: Window;

  beforeEach(async () => {
    other = new Window('panel-2');
    worker.relay.joined(other);
    await worker.serve();
    worker.relay.take(panel, { kind: 'op', op: subscribe(20) });
    await say({ type: 'result', submissionId: id(20), data: { thread: {} } });
    panel.heard = [];
    other.heard = [];
    sent();
  });

  test('the stream goes to those that watch the thread, broadcasts to all', async () => {
    await say(delta);
    await say({ type: 'thread.updated', threadId: THREAD, revision: 2, patch: {} });
    expect([panel.events.map((each) => each.type), other.events.map((each) => each.type)]).toEqual([
      ['item.delta', 'thread.updated'], ['thread.updated'],
    ]);
  });

  test('one that watches another thread hears no word of this one', async () => {
    worker.relay.take(other, { kind: 'op', op: subscribe(21, id(0xbbb)) });
    await say({ type: 'result', submissionId: id(21), data: {} });
    other.heard = [];
    await say(delta);
    expect(other.events).toEqual([]);
  });

  test('E55: what comes while the parts of its snapshot arrive is told after the snapshot, to it alone', async () => {
    worker.relay.take(other, { kind: 'op', op: subscribe(21) });
    const snapshot = JSON.stringify({ type: 'result', submissionId: id(21), data: { thread: {} } });
    await say({ type: 'part', id: 'p', index: 0, count: 2, data: snapshot.slice(0, 30) });
    await say(delta);
    expect([panel.events, other.events]).toEqual([[delta], []]);
    await say({ type: 'part', id: 'p', index: 1, count: 2, data: snapshot.slice(30) });
    expect(other.events.map((each) => each.type)).toEqual(['result', 'item.delta']);
  });

  test('E41: a panel that closes is unsubscribed under its own client', async () => {
    worker.relay.gone(panel);
    expect(worker.sent()).toMatchObject([{ type: 'thread.unsubscribe', threadId: THREAD, clientId: 'panel-1' }]);
    await say(delta);
    expect(panel.events).toEqual([]);
  });

  test('after the host went, panels must ask anew before they hear the stream', async () => {
    worker.die();
    await worker.serve();
    panel.heard = [];
    await say(delta);
    expect(panel.events).toEqual([]);
  });
});

test('E36: a worker that is stopped and started fifty times during a turn doubles nothing', async () => {
  await keep(create(1));
  await keep(submit(2));
  const done = new Map<string, number>();
  for (let start = 1; start <= 50; start += 1) {
    worker = await Worker.started(worker.clock);
    worker.relay.joined(new Window(`panel-${start}`));
    await worker.serve();
    // Every worker but the last two is stopped before it hears of an answer.
    if (start === 49) await say(ack(create(1)));
    if (start === 50) await say(ack(submit(2)));
    for (const op of worker.sent()) done.set(op.submissionId, (done.get(op.submissionId) ?? 0) + 1);
  }
  expect([...done]).toEqual([[id(1), 49], [id(2), 2]]);
  expect(await kept()).toEqual([]);
});

describe('what tools want of the browser', () => {
  const request = (number: number): WireMessage => ({
    type: 'browser.request', requestId: id(number), threadId: THREAD, turnId: id(90), tool: 'list_tabs', params: {},
  });
  const asked = (window: Window): unknown[] => window.events.filter(({ type }) => type === 'browser.request').map((event) => event['requestId']);

  test('one panel is asked: the one that shows the conversation', async () => {
    const other = new Window('panel-2');
    worker.relay.joined(other);
    await worker.serve();
    worker.relay.take(panel, { kind: 'op', op: { type: 'thread.subscribe', submissionId: id(30), threadId: THREAD } });
    await say({ type: 'result', submissionId: id(30), data: {} });
    await say(request(31));
    expect([asked(panel), asked(other)]).toEqual([[id(31)], []]);
  });

  test('a panel that closes meanwhile leaves it to the next; without any the tool hears so at once', async () => {
    const other = new Window('panel-2');
    worker.relay.joined(other);
    await worker.serve();
    await say(request(31));
    expect([asked(panel), asked(other)]).toEqual([[], [id(31)]]);
    worker.relay.gone(other);
    expect(asked(panel)).toEqual([id(31)]);
    worker.relay.gone(panel);
    expect(worker.sent().at(-1)).toMatchObject({ type: 'browser.response', requestId: id(31), ok: false, error: { code: 'panel_closed' } });
  });

  test('what was answered is nobody’s any more', async () => {
    const other = new Window('panel-2');
    worker.relay.joined(other);
    await worker.serve();
    await say(request(31));
    worker.relay.take(other, { kind: 'op', op: { type: 'browser.response', submissionId: id(32), requestId: id(31), ok: true, result: {} } });
    worker.relay.gone(other);
    expect(asked(panel)).toEqual([]);
  });
});
