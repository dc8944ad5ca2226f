import { describe, expect, test } from 'bun:test'
import { htmlLengthMax, sanitize } from '../../src/lib/html.ts'

const refusal = (message: string) => expect.objectContaining({ code: 'INVALID', message: expect.stringContaining(message) })
function outcome(html: string): unknown {
  try {
    return sanitize(html, 'bodyHtml')
  } catch (error) {
    return error
  }
}

describe('sanitising', () => {
  test('sanitising takes 5,000 tags and not one more, closed or not: what the parser must do is bounded', () => {
    for (const [unit, times] of [
      ['<b>', 5_000],
      ['<p></p>', 2_500],
      ['<div>', 5_000],
      ['<!--', 5_000],
      ['<script>', 5_000],
    ] as const) {
      expect([unit, typeof outcome(unit.repeat(times))]).toEqual([unit, 'string'])
      expect([unit, outcome(`${unit.repeat(times)}<b>`)]).toEqual([unit, refusal('bodyHtml (body): at most 5000 tags')])
    }
    expect(outcome('<'.repeat(htmlLengthMax))).toEqual(refusal('at most 5000 tags'))
  })

  test('sanitising refuses what grows beyond 64 KiB by it, and takes what does not', () => {
    const ampersands = Math.floor(htmlLengthMax / '&amp;'.length)
    expect(outcome('&'.repeat(ampersands))).toBe('&amp;'.repeat(ampersands))
    expect(outcome('&'.repeat(ampersands + 1))).toEqual(refusal('bodyHtml (body): at most 65536 characters'))
    expect(outcome('<a href="https://a.example">a</a>'.repeat(1_900))).toEqual(refusal('at most 65536 characters'))
    expect(outcome('x'.repeat(htmlLengthMax))).toBe('x'.repeat(htmlLengthMax))
    expect(outcome('x'.repeat(htmlLengthMax + 1))).toEqual(refusal('at most 65536 characters'))
  })
})
