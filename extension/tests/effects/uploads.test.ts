// @vitest-environment jsdom
// Issue 4: bytes go in chunks, a few at a time; what was lost with the host is asked for and sent again; a stop leaves nothing.
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ready } from '../support/make';
import { ALL, PanelInPage, type Sent } from '../support/panel';

const CHUNK = 1_000;
const WISH = { kind: 'file', mime: 'text/plain', provenance: 'page', trust: 'untrusted' } as const;
let panel: PanelInPage;
let uploads: typeof import('../../src/panel/effects/uploads');

beforeEach(async () => {
  panel = await PanelInPage.open();
  await panel.serve([], [...ALL, 'attachment.begin']);
  uploads = await import('../../src/panel/effects/uploads');
});

const bytes = (size: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: size }, (_, at) => at % 251);
/** jsdom's own blobs have no `arrayBuffer`, and its buffers are not those that Node's digests take. */
const blob = (data: Uint8Array<ArrayBuffer>): Blob => Object.assign(new Blob([data]), { arrayBuffer: async () => Buffer.from(data) });

const until = (look: () => boolean): Promise<void> => vi.waitFor(() => expect(look()).toBe(true), { timeout: 8_000, interval: 5 });
const chunks = (): Sent[] => panel.all('attachment.chunk');

async function begun(members: object = {}): Promise<void> {
  await until(() => panel.all('attachment.begin').length > 0);
  await panel.ack('attachment.begin', { attachmentId: 'a', chunkBytes: CHUNK, have: false, ...members });
}

const answered = new Set<string>();
/** Acknowledges every chunk that waits for it; gives back how many there were. */
async function take(): Promise<number> {
  const waiting = chunks().filter(({ submissionId }) => !answered.has(submissionId));
  for (const { submissionId } of waiting) {
    answered.add(submissionId);
    await panel.hear({ type: 'command.ack', submissionId, received: 1 });
  }
  return waiting.length;
}

function dataOf(sent: readonly Sent[]): Buffer {
  const pieces = new Map(sent.map((chunk) => [Number(chunk['index']), Buffer.from(String(chunk['data']), 'base64')]));
  return Buffer.concat([...pieces.entries()].toSorted(([one], [other]) => one - other).map(([, piece]) => piece));
}

describe('an upload', () => {
  test('announces size and digest, sends at most four chunks at a time, then commits', async () => {
    const data = bytes(9_500);
    const told: number[] = [];
    const done = uploads.upload({ bytes: blob(data), ...WISH }, { onProgress: (sent) => told.push(sent) });
    await begun();
    expect(panel.sent('attachment.begin')).toMatchObject({ ...WISH, size: 9_500, sha256: createHash('sha256').update(data).digest('hex') });
    let most = 0;
    while (panel.all('attachment.commit').length === 0) {
      await until(() => chunks().some(({ submissionId }) => !answered.has(submissionId)) || panel.all('attachment.commit').length > 0);
      most = Math.max(most, await take());
    }
    expect(most).toBeLessThanOrEqual(4);
    expect(dataOf(chunks()).equals(Buffer.from(data))).toBe(true);
    await panel.ack('attachment.commit', { sha256: 'd', size: 9_500 });
    await expect(done).resolves.toEqual({ attachmentId: 'a', sha256: 'd', size: 9_500 });
    expect(told).toEqual(told.toSorted((one, other) => one - other));
    expect(told.at(-1)).toBe(9_500);
  });

  test('of bytes that are stored sends none of them', async () => {
    const done = uploads.upload({ bytes: blob(bytes(5_000)), ...WISH });
    await begun({ have: true });
    await until(() => panel.all('attachment.commit').length > 0);
    expect(chunks()).toEqual([]);
    await panel.ack('attachment.commit', { sha256: 'd', size: 5_000 });
    await done;
  });

  test('goes on with what is missing after the host died', async () => {
    const data = bytes(8_000);
    const done = uploads.upload({ bytes: blob(data), ...WISH });
    await begun();
    await until(() => chunks().length === 4);
    const [first, ...lost] = chunks();
    answered.add(first?.submissionId ?? '');
    await panel.hear({ type: 'command.ack', submissionId: first?.submissionId, received: 1 });
    for (const { submissionId } of lost) {
      answered.add(submissionId);
      await panel.hear({ type: 'local.not_connected', submissionId });
    }
    await until(() => chunks().every(({ submissionId }) => answered.has(submissionId)) || chunks().length > 4);
    for (const { submissionId } of chunks()) if (!answered.has(submissionId)) await panel.hear({ type: 'local.not_connected', submissionId });
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: null });
    await panel.link(ready('store-1', [...ALL, 'attachment.begin']));
    await until(() => panel.all('attachment.status').length > 0);
    const before = chunks().length;
    for (const { submissionId } of panel.all('attachment.status')) await panel.hear({ type: 'result', submissionId, data: { received: [[0, 2]] } });
    while (panel.all('attachment.commit').length === 0) {
      await until(() => chunks().some(({ submissionId }, at) => at >= before && !answered.has(submissionId)) || panel.all('attachment.commit').length > 0);
      await take();
    }
    const again = chunks().slice(before).map(({ index }) => Number(index));
    expect([...new Set(again)].toSorted((one, other) => one - other)).toEqual([3, 4, 5, 6, 7]);
    await panel.ack('attachment.commit', { sha256: 'd', size: 8_000 });
    await done;
  });

  test('is given up at a stop, at the companion too', async () => {
    const stop = new AbortController();
    const done = uploads.upload({ bytes: blob(bytes(9_000)), ...WISH }, { signal: stop.signal });
    await begun();
    await until(() => chunks().length === 4);
    stop.abort(new Error('stopped'));
    const rejected = expect(done).rejects.toThrow('stopped');
    await take();
    await rejected;
    await until(() => panel.all('attachment.abort').length > 0);
    expect(panel.sent('attachment.abort')).toMatchObject({ attachmentId: 'a' });
    expect(panel.all('attachment.commit')).toEqual([]);
  });

  test('too large for the companion is refused before anything is sent', async () => {
    const large = Object.defineProperty(blob(bytes(1)), 'size', { value: (64 << 20) + 1 });
    await expect(uploads.upload({ bytes: large, ...WISH })).rejects.toMatchObject({ code: 'too_large' });
    expect(panel.all('attachment.begin')).toEqual([]);
  });

  test('waits for a companion, and a stop ends the wait', async () => {
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: null });
    const stop = new AbortController();
    const waiting = expect(uploads.upload({ bytes: blob(bytes(9)), ...WISH }, { signal: stop.signal })).rejects.toThrow('stopped');
    stop.abort(new Error('stopped'));
    await waiting;
    expect(panel.all('attachment.begin')).toEqual([]);
  });
});
