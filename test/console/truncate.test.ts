/** Long texts where there is room for a line. */
import { describe, expect, test } from 'bun:test'
import { diffExcerpts, truncate } from '../../src/console/lib/format/truncate.ts'

describe('a name', () => {
  test('that fits stands whole, and a longer one says that it goes on', () => {
    expect(truncate('a'.repeat(80))).toBe('a'.repeat(80))
    expect(truncate('a'.repeat(81))).toBe(`${'a'.repeat(79)}…`)
    expect(truncate('abcdef', 4)).toBe('abc…')
  })

  test('is cut between characters, and not in one', () => {
    expect(truncate('ab😀😀', 4)).toBe('ab…')
    expect(truncate('abc😀', 5)).toBe('abc😀')
  })
})

describe('two texts', () => {
  test('that are short stand whole', () => {
    expect(diffExcerpts('a', '')).toEqual(['a', ''])
  })

  test('that are long are shown where they differ, however late that is', () => {
    const same = 'x'.repeat(5_000)
    expect(diffExcerpts(`${same}mine`, `${same}theirs`)).toEqual([`…${'x'.repeat(40)}mine`, `…${'x'.repeat(40)}theirs`])
    const [yours, there] = diffExcerpts(`${same}mine${same}`, same)
    expect(yours).toStartWith(`…${'x'.repeat(40)}mine`)
    expect(yours.length).toBeLessThanOrEqual(201)
    expect(there).toBe(`…${'x'.repeat(40)}`)
  })

  test('that differ from the beginning are shown from there', () => {
    expect(diffExcerpts(`A${'b'.repeat(300)}`, 'C')).toEqual([`A${'b'.repeat(198)}…`, 'C'])
  })
})
