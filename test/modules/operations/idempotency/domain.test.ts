/** How an answer is kept until it is asked for again. */
import { expect, test } from 'bun:test'
import { decodeAnswer, encodeAnswer } from '../../../../src/modules/operations/idempotency/domain.ts'

const orderOf = (lines: number) => ({
  lines: Array.from({ length: lines }, (_, nth) => ({ title: `Tasse № ${nth}`, total: { amount: nth } })),
})

test('an answer of any length is kept as it is, and a long one in less than half of its length', () => {
  for (const answer of [null, '', 'a', { at: '~' }, '~'.repeat(600), orderOf(1), orderOf(10), orderOf(500)]) {
    const kept = encodeAnswer(201, answer)
    expect(decodeAnswer(kept)).toEqual({ status: 201, body: JSON.stringify(answer) })
    if (JSON.stringify(answer).length > 1_000) expect(kept.length).toBeLessThan(JSON.stringify(answer).length / 2)
  }
})

test('an answer that an older version has kept is read as it was written', () => {
  expect(decodeAnswer(JSON.stringify({ status: 404, body: '{"a":1}' }))).toEqual({ status: 404, body: '{"a":1}' })
  const long = JSON.stringify({ text: 'b'.repeat(2_000) })
  expect(decodeAnswer(`200 ${long}`)).toEqual({ status: 200, body: long })
})
