// @vitest-environment jsdom
// Item 1 and 7 of attachments: files go with a message once they are there, and nothing typed is lost when they do not.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { attachment, id, LIMITS, meta, snapshot, THREAD, user } from '../support/make';
import { click, doing, every, one, PanelInPage, press, type } from '../support/panel';

let panel: PanelInPage;
beforeEach(async () => {
  URL.createObjectURL = () => 'blob:x';
  URL.revokeObjectURL = () => undefined;
  panel = await PanelInPage.open();
  await panel.serve([meta()]);
  await panel.show(snapshot([]));
});

/** jsdom's own files cannot be read. */
function file(name: string, text: string, mime = 'text/plain', size?: number): File {
  const made = new File([text], name, { type: mime });
  Object.defineProperty(made, 'arrayBuffer', { value: async () => new TextEncoder().encode(text).buffer });
  if (size !== undefined) Object.defineProperty(made, 'size', { value: size });
  return made;
}

async function choose(...chosen: File[]): Promise<void> {
  await doing(panel, () => panel.files.addFiles(THREAD, chosen));
}

const states = (): (string | undefined)[] => every('draft-file').map((each) => each.dataset['state']);

async function sendOne(attachmentId: string): Promise<void> {
  await vi.waitFor(() => expect(panel.sent('attachment.begin')).toBeDefined());
  await panel.ack('attachment.begin', { attachmentId, chunkBytes: 262_144, have: false });
  await vi.waitFor(() => expect(panel.sent('attachment.chunk')).toBeDefined());
  await panel.ack('attachment.chunk', { received: 1 });
  await vi.waitFor(() => expect(panel.sent('attachment.commit')).toBeDefined());
  await panel.ack('attachment.commit', { sha256: 'cd'.repeat(32), size: 5 });
}

describe('files of a message', () => {
  test('are announced with name, type and digest, sent, and named by the message', async () => {
    await choose(file('tides.txt', 'hello'));
    await vi.waitFor(() => expect(panel.sent('attachment.begin')).toBeDefined());
    expect(panel.sent('attachment.begin')).toMatchObject({
      threadId: THREAD, kind: 'file', mime: 'text/plain', size: 5, provenance: 'user', trust: 'trusted', meta: { title: 'tides.txt' },
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
    await sendOne('a1');
    expect([atob(String(panel.sent('attachment.chunk')?.['data'])), states()]).toEqual(['hello', ['there']]);
    await type(panel, one('composer'), 'What is this?');
    await press(panel, one('composer'), 'Enter');
    expect(panel.sent('turn.submit')).toMatchObject({ input: { content: [{ type: 'text', text: 'What is this?' }], attachmentIds: ['a1'] } });
    expect(states()).toEqual([]);
  });

  test('a message that is sent too early waits for them, and can be called back', async () => {
    await choose(file('tides.txt', 'hello'));
    await type(panel, one('composer'), 'Q');
    await press(panel, one('composer'), 'Enter');
    expect([panel.sent('turn.submit'), one<HTMLTextAreaElement>('composer').value]).toEqual([undefined, 'Q']);
    await sendOne('a1');
    expect(panel.sent('turn.submit')).toMatchObject({ input: { attachmentIds: ['a1'] } });
    expect(one<HTMLTextAreaElement>('composer').value).toBe('');
  });

  test('bytes that the companion has are not sent again', async () => {
    await choose(file('tides.txt', 'hello'));
    await vi.waitFor(() => expect(panel.sent('attachment.begin')).toBeDefined());
    await panel.ack('attachment.begin', { attachmentId: 'a1', chunkBytes: 262_144, have: true });
    await vi.waitFor(() => expect(panel.sent('attachment.commit')).toBeDefined());
    await panel.ack('attachment.commit', { sha256: 'cd'.repeat(32), size: 5 });
    expect([states(), panel.sent('attachment.chunk')]).toEqual([['there'], undefined]);
  });

  test('one that is too large says so, is not sent, and the words stay', async () => {
    await choose(file('film.mp4', 'x', 'video/mp4', LIMITS.uploadBytes + 1));
    await type(panel, one('composer'), 'Q');
    await vi.waitFor(() => expect(states()).toEqual(['failed']));
    await press(panel, one('composer'), 'Enter');
    expect(one('draft-file').textContent).toContain('Too large: 64 MiB');
    expect([panel.sent('attachment.begin'), panel.sent('turn.submit'), one<HTMLTextAreaElement>('composer').value]).toEqual([undefined, undefined, 'Q']);
    await click(panel, one('remove-file'));
    await press(panel, one('composer'), 'Enter');
    expect(panel.sent('turn.submit')).toMatchObject({ input: { content: [{ type: 'text', text: 'Q' }] } });
  });

  test('a quota that is used up is said, and a file that is there is deleted when it is taken out', async () => {
    await choose(file('one.txt', 'hello'));
    await vi.waitFor(() => expect(panel.sent('attachment.begin')).toBeDefined());
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('attachment.begin')?.submissionId, code: 'quota_exceeded', message: 'm', retryable: false });
    await vi.waitFor(() => expect(states()).toEqual(['failed']));
    expect(one('draft-file').textContent).toContain('no room');
    const before = panel.all('attachment.begin').length;
    await click(panel, one('draft-file').querySelector('button') as HTMLElement);
    await vi.waitFor(() => expect(panel.all('attachment.begin').length).toBe(before + 1));
    await sendOne('a2');
    await click(panel, one('remove-file'));
    expect([states(), panel.sent('attachment.delete')?.['attachmentId']]).toEqual([[], 'a2']);
  });

  test('text beyond what a message can hold goes as a file', async () => {
    const text = 'x'.repeat((1 << 20) + 1);
    await doing(panel, () => panel.store.dispatch({ type: 'draft', threadId: THREAD, draft: { text, context: [] } }));
    await press(panel, one('composer'), 'Enter');
    expect(every('draft-file').map((each) => each.querySelector('.chip-name')?.textContent)).toEqual(['message.txt']);
    expect(panel.sent('turn.submit')).toBeUndefined();
  });
});

describe('attachments of a message', () => {
  async function shows(...attachments: object[]): Promise<void> {
    await panel.hear({ type: 'thread.node', threadId: THREAD, node: user(1, null, 'Q', { payload: { attachmentIds: ['one', 'two', 'three'] } }) });
    await vi.waitFor(() => expect(panel.sent('attachment.list')).toBeDefined());
    await panel.answer('attachment.list', { attachments, cursor: null });
    await vi.waitFor(() => expect(every('attachment').some((each) => each.dataset['state'] !== 'unknown')).toBe(true));
  }

  test('are cards with name, type and size; what was removed says what it was, and what is gone that it is', async () => {
    await shows(attachment('one', { kind: 'file', mime: 'application/pdf', size: 2_097_152, meta: { title: 'tides.pdf' } }), attachment('two', { evicted: true, meta: { title: 'shot', url: 'https://a.example/p' } }));
    await vi.waitFor(() => expect(panel.sent('attachment.read')).toBeDefined());
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('attachment.read')?.submissionId, code: 'not_found', message: 'm', retryable: false });
    await vi.waitFor(() => expect(every('attachment').map((each) => each.dataset['state'])).toEqual(['file', 'gone', 'gone']));
    const [card, evicted, gone] = every('attachment');
    expect(card?.textContent).toBe('tides.pdfPDF · 2 MiB');
    for (const said of ['shot', 'Removed to make room', '1.5 KiB', 'ab'.repeat(32), 'https://a.example/p']) expect(evicted?.textContent).toContain(said);
    expect(gone?.textContent).toContain('Deleted');
  });

  test('what the quota takes becomes a tombstone at once, and that is said', async () => {
    const captured = { kind: 'file', mime: 'text/plain', provenance: 'page' } as const;
    await shows(attachment('one', captured), attachment('two', captured), attachment('three', captured));
    expect(every('attachment').map((each) => each.dataset['state'])).toEqual(['file', 'file', 'file']);
    await panel.hear({ type: 'attachment.evicted', threadId: THREAD, attachmentIds: ['two'] });
    await vi.waitFor(() => expect(every('attachment').map((each) => each.dataset['state'])).toEqual(['file', 'gone', 'file']));
    expect(one('toast').textContent).toContain('removed to make room: 1');
  });

  test('an edited message keeps them, unless one is taken out, which stays with the older version', async () => {
    await shows(attachment('one', { kind: 'file', mime: 'text/plain' }), attachment('two', { kind: 'file', mime: 'text/plain' }), attachment('three', { evicted: true }));
    await click(panel, one('edit-message'));
    expect(states()).toEqual(['there', 'there']);
    await click(panel, one('remove-file'));
    await press(panel, one('composer'), 'Enter');
    expect(panel.sent('turn.fork')).toMatchObject({ siblingOfNodeId: id(1), input: { attachmentIds: ['two'] } });
    expect(panel.sent('attachment.delete')).toBeUndefined();
  });
});
