// @vitest-environment jsdom
// E61, E62: what of a page is taken: its text in order, never markup, scripts or what is hidden.
import { beforeEach, describe, expect, test } from 'vitest';
import { flatClone } from '../../src/page/flatten';
import { markdownOf } from '../../src/page/markdown';
import { readPage } from '../../src/page/reader';

const SENTENCE = 'The lowest part of the shore is under water for ten hours of every twelve, and what lives there hardly ever dries. ';
const ARTICLE = `<article><h1>Tide pools</h1>${Array.from({ length: 6 }, (_, at) => `<p>${at}: ${SENTENCE.repeat(2)}</p>`).join('')}</article>`;

function page(body: string, title = 'A page'): void {
  document.title = title;
  document.body.innerHTML = body;
  // jsdom lays nothing out: what is seen is all that is not hidden.
  Object.defineProperty(document.body, 'innerText', { configurable: true, get: () => document.body.textContent ?? '' });
  HTMLElement.prototype.checkVisibility = function checkVisibility(this: HTMLElement) {
    return !this.hidden && this.style.display !== 'none';
  };
}

beforeEach(() => page(''));

describe('an article', () => {
  test('is read without what stands around it', () => {
    page(`<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>${ARTICLE}<footer>Cookies and terms</footer>`);
    const read = readPage();
    expect(read).toMatchObject({ kind: 'article', title: 'A page', url: location.href, contentType: 'text/html' });
    expect(read.text).toContain(`0: ${SENTENCE.repeat(2).trim()}`);
    expect(read.text.indexOf('0: The')).toBeLessThan(read.text.indexOf('5: The'));
    expect(read.text).not.toMatch(/Cookies|Shop|</);
  });

  test('leaves the page as it is', () => {
    page(ARTICLE);
    const before = document.documentElement.outerHTML;
    readPage();
    expect(document.documentElement.outerHTML).toBe(before);
  });
});

describe('a page without one main text', () => {
  test('is read whole', () => {
    page('<ul><li>Milk</li><li>Bread</li></ul><p>Total: 3</p>');
    expect(readPage()).toMatchObject({ kind: 'whole', text: '- Milk\n- Bread\n\nTotal: 3' });
  });

  test('with no text gives no text', () => {
    page('<canvas></canvas>');
    expect(readPage().text).toBe('');
  });
});

describe('what is taken', () => {
  const taken = (): string => flatClone(document).body.textContent?.replace(/\s+/g, ' ').trim() ?? '';

  test('not scripts, styles, templates, frames, nor what is hidden', () => {
    page('<p>seen</p><script>run()</script><style>a {}</style><template>t</template><noscript>n</noscript><p hidden>h</p><p style="display:none">d</p><p aria-hidden="true">a</p><iframe srcdoc="f"></iframe><dialog>closed</dialog><dialog open>open</dialog>');
    expect(taken()).toBe('seenopen');
  });

  test('text inside shadow trees, with what was put into their slots, in the order of the eye', () => {
    page('<div id="host"><span slot="b">second</span><span>first</span></div><p>after</p>');
    const root = document.getElementById('host')?.attachShadow({ mode: 'open' }) as ShadowRoot;
    root.innerHTML = '<slot></slot>-<slot name="b"></slot>-<slot name="none">fallback</slot>';
    expect(taken()).toBe('first-second-fallbackafter');
  });

  test('nothing in the copy loads or runs', () => {
    page('<img src="https://a.example/x.png" onerror="window.ran = 1"><p>x</p>');
    const copy = flatClone(document);
    expect(copy.defaultView).toBeNull();
    expect(copy.querySelector('base')?.href).toBe(document.baseURI);
  });
});

describe('as Markdown', () => {
  const markdown = (html: string): string => markdownOf(html, document);

  test.each([
    ['<h2>Head</h2><p>Text <b>bold</b> <em>em</em></p>', '## Head\n\nText **bold** _em_'],
    ['<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>', '| a | b |\n| --- | --- |\n| 1 | 2\\|3 |'],
    ['<table><tr><td>only</td></tr><tr><td>x</td><td>y</td></tr></table>', '| only |  |\n| --- | --- |\n| x | y |'],
    ['<pre><code>a = 1\nb</code></pre>', '```\na = 1\nb\n```'],
    ['<p>See <a href="/x">this</a></p>', `See [this](${new URL('/x', 'http://localhost:3000').href})`],
    ['<p><a href="#top">up</a> <a href="javascript:x()">js</a> <a href="data:text/html,x">d</a></p>', 'up js d'],
    ['<p><img src="https://a.example/x.png" alt="A limpet"><img src="y.png"></p>', '[image: A limpet]'],
    ['<form><input value="secret"><button>Send</button></form><p>x</p>', 'x'],
    ['<p>漢字<ruby>漢<rt>かん</rt></ruby> العربية</p>', '漢字漢(かん) العربية'],
  ])('%s', (html, expected) => expect(markdown(html)).toBe(expected));
});
