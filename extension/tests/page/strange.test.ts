// @vitest-environment jsdom
// E62: Markdown of what pages really write: lists in lists, cards, gutters, ruby, formulas, words that look like marks.
import { describe, expect, test } from 'vitest';
import { flatClone } from '../../src/page/flatten';
import { markdownOf } from '../../src/page/markdown';
import { selectedText } from '../../src/page/selection';

const markdown = (html: string): string => markdownOf(html, { baseURI: 'https://a.example/x/' });

describe('as Markdown', () => {
  test.each([
    ['<ul><li>a<ul><li>b</li></ul></li></ul>', '- a\n  - b'],
    ['<ul><li>a</li><ul><li>b</li></ul></ul>', '- a\n  - b'],
    ['<ol start="9"><li>a<p>more</p></li><li value="20">b</li></ol>', '9. a\n\n   more\n20. b'],
    ['<a href="/card"><h3>Card</h3><p>Words</p></a>', '### [Card](https://a.example/card)\n\nWords'],
    ['<h2>Head <a href="#h">#</a></h2>', '## Head'],
    ['<p><a href="/a (b)">x</a></p>', '[x](https://a.example/a%20%28b%29)'],
    ['<form><p>In a form</p><select><option>no</option></select><textarea>no</textarea></form>', 'In a form'],
    ['<p><b> x </b>y<i></i></p>', '**x** y'],
    ['<p>a<br>b</p>', 'a\nb'],
    ['<dl><dt>Ebb</dt><dd>falls</dd></dl>', '**Ebb**\n\nfalls'],
    ['<p># no head</p><p>- no list</p><p>7. no list</p><p>&gt; no words of others</p>', '\\# no head\n\n\\- no list\n\n7\\. no list\n\n\\> no words of others'],
    ['<p>if (a&lt;b) snake_case &lt;tag&gt;</p>', 'if (a\\<b) snake_case \\<tag>'],
    ['<pre>a<br>b<span class="line-number">1</span></pre>', '```\na\nb\n```'],
    ['<div class="highlight-source-shell"><pre>ls</pre></div>', '```shell\nls\n```'],
    ['<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>', '漢字(かんじ)'],
    ['<math alttext="x^2"><mi>x</mi></math>', '$x^2$'],
    ['<table><tr><th>a</th></tr><tr><td>b</td></tr></table>', 'a\n\nb'],
    ['<table><tr><td>a<table><tr><th>b</th><th>c</th></tr></table></td></tr></table>', 'a\n\n| b | c |\n| --- | --- |'],
    ['<table><tr><th>a</th><th>b</th></tr><tr><td rowspan="2">1</td><td>2</td></tr><tr><td>3</td></tr></table>', '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |'],
    ['<p>全角　空白</p>', '全角　空白'],
  ])('%s', (html, expected) => expect(markdown(html)).toBe(expected));

  test('a page of two thousand parts comes whole and in its order', () => {
    const parts = (count: number): string => Array.from({ length: count }, (_, at) => `<h2>${at}</h2><p>Some <b>words</b>.</p>`).join('');
    const text = markdown(parts(2_000));
    expect(text.split('\n\n')).toHaveLength(4_000);
    expect(text.endsWith('## 1999\n\nSome **words**.')).toBe(true);
  });
});

describe('a copy with a budget', () => {
  test('ends where its characters are used up', () => {
    document.body.innerHTML = '<p>0123456789</p><p>more</p><p>never</p>';
    HTMLElement.prototype.checkVisibility = () => true;
    const budget = { characters: 12, until: Infinity };
    expect(flatClone(document, budget).body.textContent).toBe('0123456789more');
    expect(budget.characters).toBeLessThanOrEqual(0);
  });
});

describe('what is selected', () => {
  const select = (element: Element): void => getSelection()?.selectAllChildren(element);

  test('keeps its form: a part of a list is a list, code is code', () => {
    document.body.innerHTML = '<ul><li>a</li><li>b <b>c</b></li></ul><pre>x = 1\n\ty</pre>';
    select(document.querySelector('ul') as Element);
    expect(selectedText()).toBe('- a\n- b **c**');
    select(document.querySelector('pre') as Element);
    expect(selectedText()).toBe('```\nx = 1\n\ty\n```');
  });

  test('in a field is as it stands there; a password is nobody’s business', () => {
    document.body.innerHTML = '<textarea>some words</textarea><input type="password" value="secret">';
    const field = document.querySelector('textarea') as HTMLTextAreaElement;
    field.focus();
    field.setSelectionRange(5, 10);
    expect(selectedText()).toBe('words');
    const password = document.querySelector('input') as HTMLInputElement;
    password.focus();
    password.select();
    expect(selectedText()).not.toContain('secret');
  });

  test('is nothing when nothing is', () => {
    document.body.innerHTML = '<p>x</p>';
    getSelection()?.removeAllRanges();
    expect(selectedText()).toBe('');
  });
});
