import { expect, setDefaultTimeout, test } from 'bun:test'
import { isMailAddress, mailboxOf, needsSmtpUtf8, normalMailAddress, senderOf, storedMailAddress } from '../../src/lib/mail-address.ts'
import { growthOf, linearMax } from '../support/growth.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const international = [
  ['ann@exämple.de', 'ann@xn--exmple-cua.de'],
  ['Ann@EXÄMPLE.DE', 'ann@xn--exmple-cua.de'],
  ['ann@exa\u0308mple.de', 'ann@xn--exmple-cua.de'],
  ['ann@XN--EXMPLE-CUA.de', 'ann@xn--exmple-cua.de'],
  ['Ж@Пример.РФ', 'ж@xn--e1afmkfd.xn--p1ai'],
  ['用户@例え。jp', '用户@xn--r8jz45g.jp'],
  ['JOSE\u0301@example.com', 'josé@example.com'],
  ['\u212a@example.com', 'k@example.com'],
  ['ann@ｅｘａｍｐｌｅ.com', 'ann@example.com'],
] as const

test('an international address has one normal form for all spellings', () => {
  for (const [text, normal] of international) {
    expect([isMailAddress(text), normalMailAddress(text), isMailAddress(normal)]).toEqual([true, normal, true])
    expect(normalMailAddress(normal)).toBe(normal)
  }
})

test('an ASCII address keeps its case and compares without it; an international one is normalized', () => {
  expect(normalMailAddress(' Ann@Example.COM ')).toBe('ann@example.com')
  expect([storedMailAddress('Ann@Example.COM'), storedMailAddress('Ann@Exämple.de')]).toEqual(['Ann@Example.COM', 'ann@xn--exmple-cua.de'])
  expect(['ann@example.com', 'ann@xn--exmple-cua.de', 'ж@example.com'].map(needsSmtpUtf8)).toEqual([false, false, true])
})

test('tags, and dots at Gmail, do not change the mailbox of an address', () => {
  for (const [address, mailbox] of [
    ['Ann+shop@Example.com', 'ann@example.com'],
    ['ann+a+b@exämple.de', 'ann@xn--exmple-cua.de'],
    ['a.n.n@example.com', 'a.n.n@example.com'],
    ['A.n.n+x@gmail.com', 'ann@gmail.com'],
    ['ann@GoogleMail.com', 'ann@gmail.com'],
    ['+ann@example.com', '+ann@example.com'],
    ['no address', '@no address'],
  ] as const)
    expect([address, mailboxOf(address)]).toEqual([address, mailbox])
})

test('an address that could end a header or command, or that no server accepts, is refused', () => {
  const refused = [
    ...[
      '',
      'ann',
      '@example.com',
      'ann@',
      'a b@example.com',
      'ann@exa mple.de',
      'ann@-example.com',
      'ann..b@example.com',
      'ann@example..com',
    ],
    ...['ann@example.com\r\nBcc: x@y.z', 'a\u00a0b@example.com', 'a\u202eb@example.com', 'a\u200bb@example.com', 'ann@exä\u202emple.de'],
    ...[
      'ann＜x@example.com',
      'a＠b@example.com',
      'a@b@exämple.de',
      'ann@exä_mple.de',
      'ann@exä/mple.de',
      'ann@exä:8.de',
      'ann@１.２.３.４',
      'ann@ä'.padEnd(300, 'ä'),
    ],
    `${'ж'.repeat(33)}@example.com`,
    `${'a'.repeat(65)}@example.com`,
    `ann@${'ä.'.repeat(60)}de`,
    '\ud800@example.com',
  ]
  for (const text of refused) expect([text, isMailAddress(text)]).toEqual([text, false])
})

test('a long text is refused in linear time', () => {
  const refuse = (length: number) => expect(isMailAddress(`${'ä'.repeat(length)}@example.com`)).toBe(false)
  expect(growthOf(refuse, 200_000)).toBeLessThan(linearMax)
})

test('the address of a sender has its domain in ASCII', () => {
  expect(senderOf('Shop <Shop@Exämple.de>')).toEqual({ name: 'Shop', address: 'shop@xn--exmple-cua.de' })
  expect(senderOf('Shop@Example.com')).toEqual({ name: undefined, address: 'Shop@Example.com' })
})
