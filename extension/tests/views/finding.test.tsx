// @vitest-environment jsdom
// D3, C4: the search asks as the filters say and shows what was found; kept pages are listed, narrowed, read and deleted.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { attachment, id, keptPage, meta, path, snapshot, THREAD, user } from '../support/make';
import { click, doing, every, one, PanelInPage, press, type } from '../support/panel';
import { opened, words } from '../support/browser';

let panel: PanelInPage;
beforeEach(async () => {
  panel = await PanelInPage.open();
  await panel.serve([meta()]);
});

const hit = (number: number, changes: object = {}): object => ({ threadId: THREAD, nodeId: id(number), title: `Chat ${number}`, snippet: `a \ue000潮\ue001 ${number}`, ts: 1_000, rank: number, ...changes });

async function search(text: string): Promise<void> {
  await doing(panel, () => void dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true })));
  await type(panel, one('search-field'), text);
  await press(panel, one('search-field'), 'Enter');
}

describe('the search', () => {
  test('opens by Ctrl+K and by Cmd+K, shows hits with their marks, in the order of the host', async () => {
    await search('潮');
    expect(panel.sent('thread.search')).toMatchObject({ query: '潮', limit: 30 });
    expect(Object.keys(panel.sent('thread.search') ?? {}).toSorted()).toEqual(['clientId', 'limit', 'query', 'submissionId', 'type']);
    await panel.answer('thread.search', { hits: [hit(1), hit(2, { nodeId: undefined, snippet: '\ue000潮\ue001汐', title: '潮汐' })], cursor: null });
    expect(every('search-hit').map((each) => [each.dataset['kind'], each.querySelector('mark')?.textContent])).toEqual([['message', '潮'], ['title', '潮']]);
    expect(one('search-hits').textContent).toContain('2 found');
    await press(panel, one('search-field'), 'Escape');
    await doing(panel, () => void dispatchEvent(new KeyboardEvent('keydown', { key: 'K', metaKey: true, bubbles: true })));
    expect(one<HTMLInputElement>('search-field').value).toBe('潮');
  });

  test('text from a page is shown as text', async () => {
    await search('x');
    await panel.answer('thread.search', { hits: [hit(1, { snippet: '<img src=x onerror=alert(1)> \ue000x\ue001', title: '<b>t</b>' })], cursor: null });
    expect(one('search-hit').querySelectorAll('img, b')).toHaveLength(0);
    expect(one('search-hit').textContent).toContain('<img src=x onerror=alert(1)> x');
  });

  test('asks as the filters say, days as whole days of this place', async () => {
    await panel.show(snapshot(path(1)));
    await search('tide');
    await click(panel, one('search-filters'));
    await type(panel, one('search-site'), ' a.example ');
    const [since, until] = [...document.querySelectorAll<HTMLInputElement>('input[type=date]')];
    await type(panel, since as HTMLInputElement, '2026-03-01');
    await type(panel, until as HTMLInputElement, '2026-03-02');
    await click(panel, document.querySelector('input[type=checkbox]') as HTMLElement);
    await click(panel, every('search-where').find((each) => each.dataset['where'] === 'pages') as HTMLElement);
    await press(panel, one('search-field'), 'Enter');
    expect(panel.sent('thread.search')).toMatchObject({
      query: 'tide', in: ['pages'], site: 'a.example', threadId: THREAD,
      since: new Date(2026, 2, 1).getTime(), until: new Date(2026, 2, 3).getTime() - 1,
    });
  });

  test('an answer to an older question is not shown', async () => {
    await search('one');
    const older = panel.sent('thread.search');
    await type(panel, one('search-field'), 'two');
    await press(panel, one('search-field'), 'Enter');
    await panel.answer('thread.search', { hits: [hit(2)], cursor: null });
    await panel.hear({ type: 'result', submissionId: older?.submissionId, data: { hits: [hit(1)], cursor: null } });
    expect(every('search-hit').map((each) => each.dataset['nodeId'])).toEqual([id(2)]);
  });

  test('pages on from the cursor, and says when nothing is found or could not be looked for', async () => {
    await search('tide');
    await panel.answer('thread.search', { hits: [hit(1)], cursor: 'next' });
    await click(panel, document.querySelector('.hits > .button') as HTMLElement);
    expect(panel.sent('thread.search')).toMatchObject({ cursor: 'next' });
    await panel.answer('thread.search', { hits: [hit(2)], cursor: null });
    expect(every('search-hit')).toHaveLength(2);
    await search('none');
    await panel.answer('thread.search', { hits: [], cursor: null });
    expect(one('search-hits').textContent).toBe('Nothing found.');
    await search('more');
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('thread.search')?.submissionId, code: 'store_busy', message: 'm', retryable: true });
    expect(one('search-hits').dataset['state']).toBe('failed');
  });

  test('is walked by arrows from the field to the hits and back', async () => {
    await search('tide');
    await panel.answer('thread.search', { hits: [hit(1), hit(2)], cursor: null });
    const field = one('search-field');
    const [first, second] = every('search-hit');
    field.focus();
    await press(panel, field, 'ArrowDown');
    expect(document.activeElement).toBe(first);
    await press(panel, first as HTMLElement, 'ArrowDown');
    await press(panel, second as HTMLElement, 'ArrowDown');
    expect(document.activeElement).toBe(second);
    await press(panel, second as HTMLElement, 'ArrowUp');
    await press(panel, first as HTMLElement, 'ArrowUp');
    expect(document.activeElement).toBe(field);
  });

  test('a hit on another branch chooses that branch, one that is loaded does not', async () => {
    await panel.show(snapshot(path(2)));
    await search('tide');
    await panel.answer('thread.search', { hits: [hit(1), hit(9)], cursor: null });
    await click(panel, every('search-hit')[0] as HTMLElement);
    expect([panel.store.page.value, panel.sent('thread.selectBranch')]).toEqual(['chat', undefined]);
    await search('tide');
    await panel.answer('thread.search', { hits: [hit(9)], cursor: null });
    await click(panel, every('search-hit')[0] as HTMLElement);
    expect(panel.sent('thread.selectBranch')).toMatchObject({ threadId: THREAD, nodeId: id(9) });
    await panel.ack('thread.selectBranch', { leafId: id(9) });
    await panel.answer('thread.subscribe', snapshot([user(9, null, 'on the other branch')]));
    expect(document.querySelector(`[data-node-id="${id(9)}"]`)?.textContent).toContain('on the other branch');
    expect(document.querySelector('.row.found')?.textContent).toContain('on the other branch');
  });
});

describe('kept pages', () => {
  async function list(...pages: object[]): Promise<void> {
    await doing(panel, () => panel.pages.openKeptPages());
    await panel.answer('page.list', { pages, cursor: null });
  }

  test('are narrowed to a site; that nobody could look is not “none”', async () => {
    await doing(panel, () => panel.pages.openKeptPages());
    expect(one('page-items').textContent).toContain('Loading');
    await panel.answer('page.list', { pages: [keptPage('p')], cursor: null });
    await type(panel, one('page-site'), 'b.example');
    await vi.waitFor(() => expect(panel.sent('page.list')).toMatchObject({ site: 'b.example' }));
    await panel.answer('page.list', { pages: [], cursor: null });
    expect([every('page-item').length, one('page-items').textContent]).toEqual([0, 'There is nothing here.']);
  });

  test('one is read as safe Markdown; its address opens only where it is one of the web', async () => {
    await list(keptPage('p'));
    await click(panel, one('page-item').querySelector('button.open') as HTMLElement);
    await panel.answer('page.get', { page: keptPage('p', { text: '# Pools\n\n<script>x()</script><img src="https://b.example/x.png">\n\n[j](javascript:x())' }) });
    expect(one('reader-text').querySelector('h1')?.textContent).toBe('Pools');
    expect(one('reader-text').querySelectorAll('script, img, iframe, [href^="javascript:"]')).toHaveLength(0);
    await click(panel, one('open-original'));
    expect(opened).toEqual(['https://a.example/pools']);
    panel.pages.openOriginal('javascript:alert(1)');
    expect(opened).toHaveLength(1);
  });

  test('what was cut is said in the panel’s language; the copy can be had as a file', async () => {
    await list(keptPage('p'));
    await click(panel, one('page-item').querySelector('button.open') as HTMLElement);
    await panel.answer('page.get', { page: keptPage('p', { parts: ['one'], cut: { reason: 'the full copy is too large; something else', keptBytes: 1 } }) });
    await panel.answer('attachment.list', { attachments: [attachment('one', { kind: 'page_snapshot', mime: 'multipart/related' })], cursor: null });
    expect(one('reader').querySelector('.cut')?.textContent).toBe(`Kept in part: ${words('en')['cutCopyLarge']?.message}; something else`);
    expect(every('reader-form').map((each) => each.dataset['form'])).toEqual(['text', 'copy']);
    await click(panel, one('open-menu'));
    const entries = [...document.querySelectorAll<HTMLElement>('[role=menuitem]')].map((each) => each.textContent?.trim());
    expect(entries).toEqual(['Open in a tab', 'Open the original', 'Download the copy', 'Pin its parts', 'Delete page']);
  });

  test('one that is gone says so, and one is deleted only after a question', async () => {
    await list(keptPage('p'), keptPage('q', { title: 'Other' }));
    await click(panel, every('item-menu').at(-2) as HTMLElement);
    const entries = [...document.querySelectorAll<HTMLElement>('[role=menuitem]')];
    await click(panel, entries.at(-1) as HTMLElement);
    expect([panel.sent('page.delete'), one('dialog').dataset['kind']]).toEqual([undefined, 'page.delete']);
    await click(panel, one('confirm'));
    await panel.ack('page.delete');
    expect(every('page-item').map((each) => each.dataset['pageId'])).toEqual(['q']);
    await click(panel, one('page-item').querySelector('button.open') as HTMLElement);
    await panel.hear({ type: 'command.rejected', submissionId: panel.sent('page.get')?.submissionId, code: 'not_found', message: 'm', retryable: false });
    expect(one('reader').textContent).toContain('not kept any more');
  });
});
