// @vitest-environment jsdom
// C4: a saved page is shown from its own bytes alone: what it tries beyond them is not there any more.
import { describe, expect, test } from 'vitest';
import { parseMhtml, textOfPart } from '../../src/panel/reader/mhtml';
import { documentOf, POLICY } from '../../src/panel/reader/snapshot';

const PIXEL = 'R0lGODlhAQABAAAAACwAAAAAAQABAAAC';

function saved(html: string, ...parts: readonly string[]): string {
  const head = 'From: <Saved by Blink>\r\nSubject: x\r\nContent-Type: multipart/related;\r\n\ttype="text/html";\r\n\tboundary="--b"\r\n\r\n';
  const root = `Content-Type: text/html\r\nContent-Transfer-Encoding: 8bit\r\nContent-Location: https://a.example/dir/page\r\n\r\n${html}`;
  return `${head}${[root, ...parts].map((part) => `----b\r\n${part}\r\n`).join('')}----b--\r\n`;
}

const part = (type: string, place: string, body: string, encoding = '8bit'): string =>
  `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n${place}\r\n\r\n${body}`;

const shown = (mhtml: string): Document => new DOMParser().parseFromString(documentOf(parseMhtml(mhtml)), 'text/html');

describe('parsing', () => {
  test('finds each part by its address and its id, decoded', () => {
    const { root, parts } = parseMhtml(
      saved('<p>x</p>', part('text/css', 'Content-ID: <css-1@mhtml.blink>', 'a =7B color: =\r\nred }', 'quoted-printable'), part('image/gif', 'Content-Location: https://a.example/x.gif', PIXEL, 'base64')),
    );
    expect(textOfPart(root)).toBe('<p>x</p>');
    expect(textOfPart(parts.get('cid:css-1@mhtml.blink')!)).toBe('a { color: red }');
    expect(parts.get('https://a.example/x.gif')?.bytes.slice(0, 6)).toBe('GIF89a');
  });

  test('reads text in the character set that the part names, and in UTF-8 otherwise', () => {
    const utf8 = String.fromCharCode(...new TextEncoder().encode('潮'));
    const { root, parts } = parseMhtml(saved(utf8, part('text/css; charset="windows-1252"', 'Content-ID: <c>', 'caf\xe9'), part('text/css; charset=unheard-of', 'Content-ID: <d>', 'd')));
    expect([textOfPart(root), textOfPart(parts.get('cid:c')!), textOfPart(parts.get('cid:d')!)]).toEqual(['潮', 'café', 'd']);
  });

  test('a boundary within a line ends nothing, and a file that stops short gives what it has', () => {
    const { root } = parseMhtml(saved('a ----b c').replace('----b--\r\n', ''));
    expect(textOfPart(root)).toBe('a ----b c');
  });

  test.each(['', 'no headers at all', 'Content-Type: text/html\r\n\r\n<p>', 'Content-Type: multipart/related; boundary="x"\r\n\r\n'])('refuses what is no MHTML: %j', (text) => {
    expect(() => parseMhtml(text)).toThrow();
  });
});

describe('the document', () => {
  test('begins with a policy that permits no script and no network', () => {
    const html = documentOf(parseMhtml(saved('<meta http-equiv="Content-Security-Policy" content="default-src *"><p>x</p>')));
    expect(html.startsWith(`<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`)).toBe(true);
    expect(html.match(/Content-Security-Policy/g)).toHaveLength(1);
    expect(POLICY).toContain("default-src 'none'");
    expect(POLICY).not.toMatch(/https?:|\*|unsafe-eval|blob:/);
  });

  test('runs nothing and leads nowhere', () => {
    const page = shown(
      saved(
        '<base href="https://b.example/"><meta http-equiv="refresh" content="0;url=https://b.example/r"><script>x()</script>' +
          '<body onload="x()"><a id="away" href="https://b.example/a" ping="https://b.example/p" target="_top">a</a><a id="here" href="#part">h</a>' +
          '<a href="javascript:x()">j</a><form action="https://b.example/f"><button formaction="https://b.example/g">g</button></form>' +
          '<object data="https://b.example/o"></object><embed src="https://b.example/e"><iframe src="https://b.example/i"></iframe>' +
          '<svg><script>x()</script><image href="https://b.example/s"/><use href="https://b.example/u#x"/></svg><img src="https://b.example/x" srcset="https://b.example/y 2x" onerror="x()">' +
          '<div style="background:url(https://b.example/z)">d</div><link rel="preload" href="https://b.example/l"><template><script>x()</script></template>',
      ),
    );
    const html = page.documentElement.outerHTML;
    expect(page.querySelectorAll('script, base, object, embed, iframe, link, template, meta[http-equiv=refresh]')).toHaveLength(0);
    // Where a link led is said, and no more than that.
    expect(html.match(/b\.example[^"]*/g)).toEqual(['b.example/a']);
    expect(page.querySelector('#away')?.getAttribute('title')).toBe('https://b.example/a');
    expect(page.querySelector('#here')?.getAttribute('href')).toBe('#part');
    expect(html).not.toMatch(/ on\w+=|javascript:|formaction|target=/);
  });

  test('takes pictures, styles and what these name from the copy', () => {
    const page = shown(
      saved(
        '<link rel="stylesheet" href="cid:main"><img src="../x.gif"><p style="background: url(../x.gif)">p</p>',
        part('text/css', 'Content-ID: <main>', '@import "cid:more"; h1 { background: url("https://a.example/x.gif") }'),
        part('text/css', 'Content-ID: <more>', 'em { color: blue }'),
        part('image/gif', 'Content-Location: https://a.example/x.gif', PIXEL, 'base64'),
      ),
    );
    const data = `data:image/gif;base64,${PIXEL}`;
    expect(page.querySelector('img')?.getAttribute('src')).toBe(data);
    expect(page.querySelector('style')?.textContent).toContain('em { color: blue }');
    expect(page.querySelector('style')?.textContent).toContain(`url("${data}")`);
    expect(page.querySelector('p')?.getAttribute('style')).toContain(data);
  });

  test('a style that imports itself ends, and one that would end early does not', () => {
    const page = shown(saved('<link rel="stylesheet" href="cid:a"><p>after</p>', part('text/css', 'Content-ID: <a>', '@import "cid:a"; p { content: "</style><script>x()</script>" }')));
    expect(page.querySelectorAll('script')).toHaveLength(0);
    expect(page.querySelector('p')?.textContent).toBe('after');
  });

  test('frames come from the copy, each without rights, and what a shadow tree held is there', () => {
    const page = shown(saved('<div><template shadowmode="open"><b>in the shadow</b></template></div><iframe src="cid:f"></iframe>', part('text/html', 'Content-ID: <f>', '<p>framed</p><script>x()</script>')));
    const frame = page.querySelector('iframe');
    expect(page.querySelector('b')?.textContent).toBe('in the shadow');
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('srcdoc')).toContain('<p>framed</p>');
    expect(frame?.getAttribute('srcdoc')).toContain("default-src 'none'");
    expect(frame?.getAttribute('srcdoc')).not.toContain('<script');
  });
});
