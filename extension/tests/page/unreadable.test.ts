// E63: why a page cannot be read is said, page kind by page kind.
import { describe, expect, test } from 'vitest';
import { refusalOf, WHY } from '../../src/panel/capture/unreadable';
import { words } from '../support/browser';

describe('a page that cannot be read', () => {
  test.each([
    ['Cannot access contents of the page. Extension manifest must request permission to access the respective host.', 'https://a.example/', 'no_access'],
    ['Cannot access a chrome:// URL', 'chrome://settings/', 'browser_page'],
    ['The extensions gallery cannot be scripted.', 'https://chromewebstore.google.com/x', 'store'],
    ['Cannot access contents of url "chrome-extension://abc/x.html".', 'chrome-extension://abc/x.html', 'extension_page'],
    ['Frame with ID 0 is showing error page', 'https://gone.example/', 'error_page'],
    ['', 'view-source:https://a.example/', 'source_view'],
    ['', 'about:blank', 'blank'],
    ['', '', 'blank'],
    ['Cannot access contents of url "data:text/html,x"', 'data:text/html,x', 'browser_page'],
    ['No tab with id: 7.', 'https://a.example/', 'gone'],
    ['The tab was closed.', undefined, 'gone'],
    ['Something else', 'https://a.example/', 'unknown'],
  ] as const)('“%s” at %s', (error, url, why) => expect(refusalOf(error, url)).toBe(why));

  test('has a sentence for each reason', () => {
    for (const key of Object.values(WHY)) expect(words('en')[key]?.message).toMatch(/\.$/);
  });
});
