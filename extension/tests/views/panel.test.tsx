// @vitest-environment jsdom
// The panel as a person meets it: what is shown, what is sent, and what is not lost.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LinkCode } from '../../src/channel';
import { ports, stored } from '../support/browser';
import { answer, id, meta, path, ready, recoverable, snapshot, THREAD, user } from '../support/make';
import { click, doing, every, one, PanelInPage, press, type } from '../support/panel';

let panel: PanelInPage;
beforeEach(async () => {
  panel = await PanelInPage.open();
});
afterEach(() => vi.useRealTimers());

const texts = (): string[] => every('message').map((each) => `${each.dataset['state']}:${each.querySelector('[data-testid=message-body]')?.textContent?.trim()}`);
async function say(text: string): Promise<void> {
  await type(panel, one('composer'), text);
  await press(panel, one('composer'), 'Enter');
}
const named = (label: string): HTMLElement => {
  const found = [...document.querySelectorAll<HTMLElement>('button, [role=menuitem]')].filter((each) => (each.getAttribute('aria-label') ?? each.textContent)?.trim() === label);
  if (!found[0]) throw new Error(`There is no button “${label}”`);
  return found.at(-1) as HTMLElement;
};

describe('sending', () => {
  test('a first message makes the chat and the message in one go, in that order', async () => {
    await panel.serve();
    await say('What is a tide?');
    const ops = panel.port.posted.map((message) => message['op'] as { type: string; threadId?: string; clientId?: string } | undefined);
    const sent = ops.filter((op) => op?.type === 'thread.create' || op?.type === 'turn.submit');
    expect(sent.map((op) => op?.type)).toEqual(['thread.create', 'turn.submit']);
    expect(new Set(sent.map((op) => op?.threadId)).size).toBe(1);
    expect(sent.every((op) => op?.clientId === 'profile')).toBe(true);
    expect(texts()).toEqual(['unsaved:What is a tide?']);
    expect(one<HTMLTextAreaElement>('composer').value).toBe('');
  });

  test('E1: with no companion it is kept in the browser, shown as not saved, and said so', async () => {
    await panel.link({ phase: 'down', code: 'not_found', detail: 'Specified native messaging host not found.', retryAt: 1 });
    await say('Are you there?');
    expect(texts()).toEqual(['unsaved:Are you there?']);
    expect(one('unsaved-badge').dataset['count']).toBe('1');
    expect(one('message').textContent).toContain('Not saved yet');
    const { outbox } = await import('../../src/outbox/outbox');
    expect((await outbox.all()).map(({ op }) => op.type)).toEqual(['thread.create', 'turn.submit']);
    expect(one('thread-item').dataset['unsaved']).toBe('1');
  });

  test('D8: a panel that is opened anew shows what the one before could not send', async () => {
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: 1 });
    await say('From the first panel');
    panel = await PanelInPage.open(true);
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: 1 });
    expect(texts()).toEqual(['unsaved:From the first panel']);
  });

  test('once acknowledged nothing says “not saved” any more', async () => {
    await panel.serve();
    await say('Hello');
    await panel.ack('thread.create', { threadId: THREAD, revision: 1 });
    await panel.ack('turn.submit', { runId: 'r', turnId: 't', userNodeId: id(1) });
    expect(texts()).toEqual(['saved:Hello']);
    expect(every('unsaved-badge')).toEqual([]);
  });

  test('E50: when the browser cannot keep it, the words go back into the field', async () => {
    await panel.serve();
    vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(() => {
      throw new Error('disk full');
    });
    await say('Do not lose me');
    expect(one<HTMLTextAreaElement>('composer').value).toBe('Do not lose me');
    expect(one('toast').textContent).toContain('disk full');
  });

  test('E35: a refused message keeps its words; it can be sent again as a new command, or taken back into the field', async () => {
    await panel.serve([meta()]);
    await panel.show(snapshot(path(2)));
    await say('Once more');
    const first = panel.sent('turn.submit');
    await panel.hear({ type: 'command.rejected', submissionId: first?.submissionId, code: 'queue_full', message: 'full', retryable: true });
    const { outbox } = await import('../../src/outbox/outbox');
    await outbox.refuse(String(first?.submissionId), { code: 'queue_full', message: 'full' });
    await panel.say({ kind: 'outbox' });
    expect(texts().at(-1)).toBe('refused:Once more');
    expect(document.querySelector('.unsent')?.textContent).toContain('Eight messages wait already');
    await click(panel, named('Send again'));
    const second = panel.sent('turn.submit');
    expect(second?.submissionId).not.toBe(first?.submissionId);
    expect((await outbox.all()).map((each) => each.submissionId)).toEqual([second?.submissionId]);
  });

  test('Enter of an input method does not send', async () => {
    await panel.serve();
    await type(panel, one('composer'), 'にほん');
    await press(panel, one('composer'), 'Enter', { isComposing: true });
    await press(panel, one('composer'), 'Enter', { keyCode: 229 });
    expect(panel.all('turn.submit')).toEqual([]);
    await press(panel, one('composer'), 'Enter', { shiftKey: true });
    expect(panel.all('turn.submit')).toEqual([]);
    await press(panel, one('composer'), 'Enter');
    expect(panel.all('turn.submit')).toHaveLength(1);
  });

  test('E56: half a surrogate pair never leaves the panel', async () => {
    await panel.serve();
    await say('cut \ud83d here');
    expect(JSON.stringify(panel.sent('turn.submit')?.['input'])).toContain('cut \ufffd here');
  });

  test('white space is no message', async () => {
    await panel.serve();
    await say('  \n ');
    expect([panel.all('turn.submit'), one<HTMLButtonElement>('send').disabled]).toEqual([[], true]);
  });

  test('E38: what was typed and not sent is there again after a reload', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    await panel.serve();
    await type(panel, one('composer'), 'half a thought');
    vi.advanceTimersByTime(300);
    vi.useRealTimers();
    panel = await PanelInPage.open(true);
    expect(one<HTMLTextAreaElement>('composer').value).toBe('half a thought');
    expect(stored.local.get(`draft:${panel.store.shownId.value}`)).toBe('half a thought');
  });
});

describe('an answer', () => {
  const start = { type: 'turn.start', threadId: THREAD, turnId: 't', runId: 'r', turnKind: 'turn', steerable: false };
  const item = { type: 'item.start', threadId: THREAD, turnId: 't', itemId: 'i', kind: 'assistant_message', meta: {} };
  const piece = (seq: number, text: string): object => ({ type: 'item.delta', threadId: THREAD, turnId: 't', itemId: 'i', seq, delta: { text } });

  beforeEach(async () => {
    await panel.serve([meta()]);
    await panel.show(snapshot(path(1)));
  });

  test('grows on the screen, can be stopped, and is whole in the end', async () => {
    await panel.hear(start);
    await panel.hear(item);
    await panel.hear(piece(1, 'The **tide** '));
    await panel.hear(piece(2, 'turns'));
    await panel.hear({ type: 'token.usage', threadId: THREAD, turnId: 't', usage: { inputTokens: 1, outputTokens: 2 } });
    expect(texts()).toEqual(['saved:Q1', 'streaming:The tide turns']);
    expect(document.querySelector('[data-state=streaming] strong')?.textContent).toBe('tide');
    await click(panel, one('stop'));
    expect(panel.sent('turn.interrupt')).toMatchObject({ threadId: THREAD });
    await panel.hear({ type: 'thread.node', threadId: THREAD, node: answer(2, 1, 'The **tide** turns', { payload: { stopReason: 'interrupted' } }) });
    await panel.hear({ type: 'item.complete', threadId: THREAD, turnId: 't', itemId: 'i', nodeId: id(2) });
    await panel.hear({ type: 'turn.complete', threadId: THREAD, turnId: 't', stopReason: 'interrupted' });
    expect(texts()).toEqual(['saved:Q1', 'interrupted:The tide turns']);
    expect(every('stop')).toEqual([]);
    expect(one('message').parentElement?.parentElement?.parentElement?.textContent).toContain('Stopped before its end');
  });

  test('E38: a panel that is opened in the middle shows the beginning and goes on without a gap', async () => {
    panel = await PanelInPage.open(true);
    await panel.serve([meta()]);
    const items = [{ itemId: 'i', kind: 'assistant_message' as const, text: 'The tide ', seq: 5 }];
    await panel.show(snapshot(path(1), { activeTurn: { runId: 'r', turnId: 't', state: 'streaming_model', items } }));
    await panel.hear(piece(5, 'tide '));
    await panel.hear(piece(6, 'turns'));
    await panel.hear({ type: 'token.usage', threadId: THREAD, turnId: 't', usage: { inputTokens: 1, outputTokens: 2 } });
    expect(texts()).toEqual(['saved:Q1', 'streaming:The tide turns']);
  });

  test('E40: a worker that is stopped in the middle: the panel connects anew, asks again, and the text goes on', async () => {
    await panel.hear(start);
    await panel.hear(item);
    await panel.hear(piece(1, 'The '));
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    await doing(panel, () => panel.port.break());
    expect(one('host-status').dataset['phase']).toBe('connecting');
    vi.advanceTimersByTime(50);
    vi.useRealTimers();
    expect(ports).toHaveLength(2);
    Object.assign(panel, { port: ports[1] });
    expect(panel.port.posted[0]).toMatchObject({ kind: 'hello', fresh: false });
    await panel.link(ready('store-1', ['thread.list']));
    const items = [{ itemId: 'i', kind: 'assistant_message' as const, text: 'The tide ', seq: 2 }];
    await panel.answer('thread.subscribe', snapshot(path(1), { activeTurn: { runId: 'r', turnId: 't', state: 'streaming_model', items } }));
    expect(texts()).toEqual(['saved:Q1', 'streaming:The tide']);
  });

  test('E39: an interrupted run shows its text and offers to go on', async () => {
    await panel.show(snapshot(path(1), { recoverable: [recoverable({ partialText: 'Half of it' })] }));
    await panel.hear({ type: 'run.recovery_required', threadId: THREAD, runId: 'run-1' });
    await panel.answer('thread.subscribe', snapshot(path(1), { recoverable: [recoverable({ partialText: 'Half of it' })] }));
    expect(one('recovery-card').textContent).toContain('Half of it');
    await click(panel, one('resume'));
    expect(panel.sent('run.resume')).toMatchObject({ threadId: THREAD, runId: 'run-1' });
  });

  test('steps that are not possible while it is written are not offered', async () => {
    await panel.hear(start);
    expect(one<HTMLButtonElement>('edit-message').disabled).toBe(true);
    expect(one<HTMLButtonElement>('delete-message').disabled).toBe(true);
    expect(one<HTMLButtonElement>('copy-message').disabled).toBe(false);
  });
});

describe('branches and deletions', () => {
  const siblings = { [id(1)]: { index: 1, count: 3, ids: [id(7), id(1), id(9)] } };

  beforeEach(async () => {
    await panel.serve([meta()]);
    await panel.show(snapshot(path(2), { siblings }));
  });

  test('A3: ‹ 2/3 › goes to the version before and after', async () => {
    expect(one('branch-pos').textContent).toBe('2/3');
    await click(panel, one('branch-next'));
    expect(panel.sent('thread.selectBranch')).toMatchObject({ nodeId: id(9) });
    await click(panel, one('branch-prev'));
    expect(panel.sent('thread.selectBranch')).toMatchObject({ nodeId: id(7) });
  });

  test('at the first and last version there is no further step', async () => {
    await panel.hear({ type: 'thread.updated', threadId: THREAD, revision: 2, patch: { leafId: id(99) } });
    await panel.answer('thread.subscribe', snapshot(path(2), { siblings: { [id(1)]: { index: 0, count: 2, ids: [id(1), id(9)] } } }));
    expect([one('branch-pos').textContent, one<HTMLButtonElement>('branch-prev').disabled, one<HTMLButtonElement>('branch-next').disabled]).toEqual(['1/2', true, false]);
  });

  test('A3: editing sends a sibling of the message, with its attachments', async () => {
    await click(panel, one('edit-message'));
    expect(one<HTMLTextAreaElement>('composer').value).toBe('Q1');
    await say('Q1 better');
    expect(panel.sent('turn.fork')).toMatchObject({ siblingOfNodeId: id(1), input: { content: [{ type: 'text', text: 'Q1 better' }] } });
    expect(panel.all('turn.submit')).toEqual([]);
  });

  test('Esc leaves the message as it was', async () => {
    await click(panel, one('edit-message'));
    await press(panel, one('composer'), 'Escape');
    expect(one<HTMLTextAreaElement>('composer').value).toBe('');
    await say('new');
    expect([panel.all('turn.fork').length, panel.all('turn.submit').length]).toEqual([0, 1]);
  });

  test('A3: an answer is written again without any input', async () => {
    await click(panel, one('regenerate'));
    expect(panel.sent('turn.fork')).toMatchObject({ siblingOfNodeId: id(2) });
    expect(panel.sent('turn.fork')).not.toHaveProperty('input');
  });

  test('A4, E26: a deleted message can be brought back from the toast', async () => {
    await click(panel, every('delete-message').at(-1) as HTMLElement);
    expect(panel.sent('node.delete')).toMatchObject({ nodeId: id(2) });
    expect(every('toast')).toEqual([]);
    await panel.ack('node.delete');
    await click(panel, one('undo'));
    expect(panel.sent('node.restore')).toMatchObject({ threadId: THREAD, nodeId: id(2) });
    expect(every('toast')).toEqual([]);
  });

  test('E26: a deleted branch is brought back whole, and chosen again', async () => {
    const { deleteBranch } = await import('../../src/panel/effects/removal');
    await doing(panel, () => void deleteBranch(THREAD, id(4)));
    await panel.ack('branch.delete', { leafId: id(2) });
    // Its tail, and a message that somebody else deletes elsewhere in the same moment.
    for (const gone of [answer(4, 3, 'x', { deleted: true }), user(3, 2, 'x', { deleted: true }), answer(8, 7, 'x', { deleted: true })]) {
      await panel.hear({ type: 'thread.node', threadId: THREAD, node: gone });
    }
    await click(panel, one('undo'));
    expect(panel.all('node.restore').map((op) => op['nodeId'])).toEqual([id(4), id(3)]);
    expect(panel.sent('thread.selectBranch')).toMatchObject({ nodeId: id(4) });
  });

  test('A3: forking opens the new chat', async () => {
    await click(panel, every('fork-thread').at(-1) as HTMLElement);
    expect(panel.sent('thread.fork')).toMatchObject({ atNodeId: id(2), copy: 'path' });
    await panel.ack('thread.fork', { threadId: id(0xbbb), revision: 1 });
    expect(panel.sent('thread.subscribe')).toMatchObject({ threadId: id(0xbbb) });
  });

  test('what the host cannot do is not offered', async () => {
    await panel.link(ready('store-1', ['thread.list', 'thread.subscribe']));
    for (const name of ['edit-message', 'regenerate', 'fork-thread', 'delete-message']) expect(every(name)).toEqual([]);
    expect(one<HTMLButtonElement>('branch-next').disabled).toBe(true);
  });

  test('a refusal is said in words', async () => {
    await click(panel, one('regenerate'));
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('turn.fork')?.submissionId, code: 'run_active', message: 'm', retryable: true });
    expect(one('toast').textContent).toContain('An answer is being written');
  });
});

describe('the list', () => {
  const other = meta({ id: id(2), title: 'Second', updatedAt: 1_500 });
  const menuOf = (title: string): Promise<void> => click(panel, named(`Menu of “${title}”`));

  beforeEach(() => panel.serve([meta(), other]));

  test('E1: while the store is unavailable the list says so and never that it is empty', async () => {
    panel = await PanelInPage.open();
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: null });
    expect(one('thread-list').textContent).toContain('The store is unavailable');
    expect(one('thread-list').textContent).not.toContain('No chats yet');
  });

  test('rename, pin and archive, the last with undo', async () => {
    await menuOf('Tides');
    await click(panel, named('Rename'));
    await type(panel, one('rename'), '  High tides ');
    await press(panel, one('rename'), 'Enter');
    expect(panel.sent('thread.update')).toMatchObject({ threadId: THREAD, patch: { title: 'High tides' } });
    await panel.ack('thread.update', { revision: 2 });
    await menuOf('Second');
    await click(panel, named('Pin'));
    expect(panel.sent('thread.update')).toMatchObject({ threadId: id(2), patch: { pinned: true } });
    await menuOf('Second');
    await click(panel, named('Archive'));
    await panel.ack('thread.update', { revision: 3 });
    await click(panel, one('undo'));
    expect(panel.sent('thread.update')).toMatchObject({ threadId: id(2), patch: { archived: false } });
  });

  test('A5: a deleted chat goes to the trash at once and comes back from the toast', async () => {
    await menuOf('Second');
    await click(panel, named('Delete'));
    expect(panel.sent('thread.delete')).toMatchObject({ threadId: id(2) });
    await panel.ack('thread.delete');
    await panel.hear({ type: 'thread.deleted', threadId: id(2), purged: false });
    expect(every('thread-item').map((each) => each.dataset['threadId'])).toEqual([THREAD]);
    await click(panel, one('undo'));
    expect(panel.sent('thread.restore')).toMatchObject({ threadId: id(2) });
  });

  test('deleting for good asks first', async () => {
    await click(panel, document.querySelector('[data-shelf=trash]') as HTMLElement);
    await panel.answer('thread.list', { threads: [meta({ id: id(5), title: 'Gone', deletedAt: 5 })], cursor: null });
    await menuOf('Gone');
    await click(panel, named('Delete for good'));
    expect(panel.all('thread.delete')).toEqual([]);
    expect(one('dialog').textContent).toContain('“Gone” and everything in it');
    await click(panel, named('Cancel'));
    expect([panel.all('thread.delete'), every('dialog')]).toEqual([[], []]);
    await menuOf('Gone');
    await click(panel, named('Delete for good'));
    await click(panel, one('confirm'));
    expect(panel.sent('thread.delete')).toMatchObject({ threadId: id(5), purge: true });
  });

  test('A1: folder and tags of a chat; a new folder and the move are kept together', async () => {
    await menuOf('Tides');
    await click(panel, named('Folder and tags…'));
    await doing(panel, () => {
      one<HTMLSelectElement>('folder-choice').value = 'new';
      one('folder-choice').dispatchEvent(new Event('change', { bubbles: true }));
    });
    await type(panel, one('new-folder'), 'Sea');
    await doing(panel, () => one('new-folder').closest('form')?.requestSubmit());
    const folder = panel.sent('folder.save')?.['folder'] as { id: string; name: string };
    expect(folder.name).toBe('Sea');
    expect(panel.sent('thread.update')).toMatchObject({ threadId: THREAD, patch: { folderId: folder.id } });
    await type(panel, one('new-tag'), '#Tide, pools, tide');
    await doing(panel, () => one('new-tag').closest('form')?.requestSubmit());
    expect(panel.sent('thread.update')).toMatchObject({ patch: { tags: ['Tide', 'pools'] } });
    expect(every('tag').map((each) => each.textContent)).toEqual(['#Tide', '#pools']);
  });

  test('A1: the list is narrowed by the host, so that its pages stay right', async () => {
    await panel.hear({ type: 'store.changed', kind: 'folders', id: 'sea', revision: 1 });
    await panel.answer('folder.list', { folders: [{ id: 'sea', name: 'Sea', updatedAt: 1 }] });
    await doing(panel, () => {
      one<HTMLSelectElement>('list-filter').value = 'folder:sea';
      one('list-filter').dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(panel.sent('thread.list')).toMatchObject({ folderId: 'sea' });
    await panel.answer('thread.list', { threads: [], cursor: null });
    expect(one('thread-list').textContent).toContain('There is nothing here.');
  });

  test('old pinned chats are read beside the first page', async () => {
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: 1 });
    await panel.link(ready('store-1', ['thread.list']));
    await panel.answer('thread.list', { threads: [meta()], cursor: 'more' });
    expect(panel.sent('thread.list')).toMatchObject({ pinned: true });
    await panel.answer('thread.list', { threads: [meta({ id: id(8), title: 'Old', pinned: true, updatedAt: 1 })], cursor: null });
    expect(one('thread-item').textContent).toContain('Old');
  });

  test('a refused list is not asked for again and again', async () => {
    panel = await PanelInPage.open();
    await panel.link(ready('store-1', ['thread.list']));
    expect(panel.all('thread.list')).toHaveLength(1);
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('thread.list')?.submissionId, code: 'internal', message: '', retryable: true });
    expect(panel.all('thread.list')).toHaveLength(1);
  });
});

describe('E1: why the store is unavailable, and what to do', () => {
  test.each<[LinkCode, string, string | null]>([
    ['not_found', 'not installed', 'sidekeep install'],
    ['forbidden', 'not for this copy', 'sidekeep install'],
    ['exited', 'ended at once', 'sidekeep doctor'],
    ['communication', 'connection to the companion broke', 'sidekeep doctor'],
    ['start_failed', 'could not start', 'sidekeep doctor'],
    ['invalid_name', 'refused the companion’s name', null],
    ['policy', 'administrator', null],
    ['silent', 'does not answer', 'sidekeep doctor'],
    ['reload_required', 'different versions', 'pip install --upgrade sidekeep'],
    ['forbidden_origin', 'does not accept this extension', null],
    ['unknown', 'does not name', 'sidekeep doctor'],
  ])('%s', async (code, sentence, command) => {
    await panel.link({ phase: 'down', code, detail: 'as the browser says', retryAt: null });
    const status = one('host-status');
    expect([status.dataset['phase'], status.dataset['code']]).toEqual(['down', code]);
    expect(status.textContent).toContain(sentence);
    expect(status.textContent).toContain('as the browser says');
    expect(status.querySelector('code')?.textContent ?? null).toBe(command);
    await click(panel, one('retry'));
    expect(panel.port.posted.at(-1)).toEqual({ kind: 'retry' });
  });

  test.each([
    ['store_newer', 'newer companion'],
    ['storage_corrupt', 'sidekeep verify'],
    ['store_busy', 'Another version'],
  ])('E11, E18: a refused store: %s', async (code, sentence) => {
    await panel.link({ phase: 'refused', host: { version: '1', pid: 1, instanceId: 'i' }, code, message: 'held by 42' });
    expect(one('host-status').textContent).toContain(sentence);
    expect(one('host-status').textContent).toContain('held by 42');
  });

  test('when all is well nothing is said', async () => {
    await panel.serve();
    expect([one('host-status').dataset['code'], one('host-status').textContent]).toEqual(['connected', '']);
  });

  test('A21: a store that is nearly full is said', async () => {
    await panel.serve();
    await panel.hear({ type: 'storage.warning', usedBytes: 81, limitBytes: 100, pct: 81.2 });
    expect(one('host-status').textContent).toContain('81 %');
  });
});

describe('entries of which nobody knows', () => {
  test('E3: those of another store are shown, not sent, and can be thrown away', async () => {
    const { outbox } = await import('../../src/outbox/outbox');
    const { entry, submit } = await import('../support/make');
    await outbox.put([entry(submit(9, 'for the old store', id(0xccc)), { storeId: 'store-old', writtenAt: Date.now() })]);
    await panel.serve();
    expect(one('unconfirmed').textContent).toContain('for the old store');
    await click(panel, named('Take back'));
    expect(await outbox.all()).toEqual([]);
    expect(every('unconfirmed')).toEqual([]);
  });
});
