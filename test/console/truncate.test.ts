/** Tests the truncation of long texts to a line. */
import { describe, expect, test } from 'bun:test'
import { diffExcerpts, truncate } from '../../src/console/lib/format/truncate.ts'

describe('a name', () => {
  test('that fits is shown completely, and a longer one ends with an ellipsis', () => {
    expect(truncate('a'.repeat(80))).toBe('a'.repeat(80))
    expect(truncate('a'.repeat(81))).toBe(`${'a'.repeat(79)}…`)
    expect(truncate('abcdef', 4)).toBe('abc…')
  })

  test('is truncated between characters, not within one', () => {
    expect(truncate('ab😀😀', 4)).toBe('ab…')
    expect(truncate('abc😀', 5)).toBe('abc😀')
  })
})

describe('two texts', () => {
  test('that are short are shown completely', () => {
    expect(diffExcerpts('a', '')).toEqual(['a', ''])
  })

  test('that are long are shown around their difference, wherever it is', () => {
    const same = 'x'.repeat(5_000)
    expect(diffExcerpts(`${same}mine`, `${same}theirs`)).toEqual([`…${'x'.repeat(40)}mine`, `…${'x'.repeat(40)}theirs`])
    const [changed, stored] = diffExcerpts(`${same}mine${same}`, same)
    expect(changed).toStartWith(`…${'x'.repeat(40)}mine`)
    expect(changed.length).toBeLessThanOrEqual(201)
    expect(stored).toBe(`…${'x'.repeat(40)}`)
  })

  test('that differ at the beginning are shown from the beginning', () => {
    expect(diffExcerpts(`A${'b'.repeat(300)}`, 'C')).toEqual([`A${'b'.repeat(198)}…`, 'C'])
  })
})
