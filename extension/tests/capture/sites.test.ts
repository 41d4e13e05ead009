// D12: sites that are never captured are told by their names, as the companion tells them.
import { describe, expect, test } from 'vitest';
import { blockedBy, siteNamed, siteOf } from '../../src/panel/capture/sites';

describe('the site of an address', () => {
  test.each([
    ['https://www.Bank.example/a?b#c', 'bank.example'],
    ['https://user:pass@bank.example:8443/', 'bank.example'],
    ['http://[::1]:80/', '[::1]'],
    ['https://bank.example.', 'bank.example'],
    ['https://bank.example\\@evil.example/', 'bank.example'],
    ['view-source:https://bank.example/', 'bank.example'],
    ['about:blank', ''],
    ['', ''],
  ])('%s is %s', (url, site) => expect(siteOf(url)).toBe(site));
});

describe('a site on the list', () => {
  test.each([
    ['https://bank.example/', ['bank.example'], 'bank.example'],
    ['https://login.bank.example/', ['bank.example'], 'bank.example'],
    ['https://bank.example/', ['https://www.bank.example/accounts'], 'bank.example'],
    ['https://a.bank.example/', ['*.bank.example'], 'bank.example'],
    ['https://xn--mnchen-3ya.example/', ['München.example'], 'xn--mnchen-3ya.example'],
    ['https://notbank.example/', ['bank.example'], null],
    ['https://bank.example.evil.example/', ['bank.example'], null],
    ['https://anything.example/', ['', '  ', '*.'], null],
    ['about:blank', ['bank.example'], null],
    ['https://any.example/a', ['*'], '*'],
  ])('%s under %j: %s', (url, list, site) => expect(blockedBy(url, list)).toBe(site));

  test('is named by what a person types', () => {
    expect(['*.bank.example', 'http://bank.example:80/x', ' WWW.Bank.Example '].map(siteNamed)).toEqual(Array(3).fill('bank.example'));
  });
});
