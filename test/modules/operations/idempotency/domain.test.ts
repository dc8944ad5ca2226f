/** Tests the stored form of an idempotent response. */
import { expect, test } from 'bun:test'
import { decodeAnswer, encodeAnswer } from '../../../../src/modules/operations/idempotency/domain.ts'

const orderOf = (lines: number) => ({
  lines: Array.from({ length: lines }, (_, nth) => ({ title: `Tasse № ${nth}`, total: { amount: nth } })),
})

test('a response of any length is stored exactly, a long one in less than half its length', () => {
  for (const answer of [null, '', 'a', { at: '~' }, '~'.repeat(600), orderOf(1), orderOf(10), orderOf(500)]) {
    const stored = encodeAnswer(201, answer)
    expect(decodeAnswer(stored)).toEqual({ status: 201, body: JSON.stringify(answer) })
    if (JSON.stringify(answer).length > 1_000) expect(stored.length).toBeLessThan(JSON.stringify(answer).length / 2)
  }
})

test('a response stored by an older version is readable', () => {
  expect(decodeAnswer(JSON.stringify({ status: 404, body: '{"a":1}' }))).toEqual({ status: 404, body: '{"a":1}' })
  const long = JSON.stringify({ text: 'b'.repeat(2_000) })
  expect(decodeAnswer(`200 ${long}`)).toEqual({ status: 200, body: long })
})
