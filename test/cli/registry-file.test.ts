import { expect, test } from 'bun:test'
import { formatRegistry, readRegistry } from '../../src/cli/registry-file.ts'
import { type Grant, registryHash } from '../../src/modules/trust/fabric/domain.ts'

const grants: Grant[] = [
  { address: '0x00000000000000000000000000000000000000b1', schema: 'B', fromAt: 1_700_000_000_123, toAt: 1_800_000_000_000 },
  { address: '0x00000000000000000000000000000000000000b1', schema: 'C', fromAt: 0, toAt: null },
]

test('a written registry file is read back with its hash, one line a grant', () => {
  const text = formatRegistry(grants)
  expect(readRegistry(text)).toEqual({ grants, hash: registryHash(grants) })
  expect(text.split('\n')).toHaveLength(8)
  expect(readRegistry(formatRegistry([]))).toEqual({ grants: [], hash: registryHash([]) })
})

test('an altered registry file is refused without repeating its content', () => {
  const text = formatRegistry(grants)
  for (const [from, to, problem] of [
    ['"to":null', '"to":"2030-01-01T00:00:00.000Z"', 'it was changed'],
    ['00b1', '00b2', 'it was changed'],
    ['00b1', '00B1', 'grant 1 must be '],
    ['"schema":"B"', '"schema":"E"', 'grant 1 must be '],
    ['"schema":"C"', '"schema":"PLANTED"', 'grant 2 must be '],
    ['"schema":"C"', '"schema":"C","more":1', 'grant 2 must be '],
    ['1970-01-01T00:00:00.000Z', '1970-01-01', 'grant 2 must be '],
    ['"grants"', '"grant"', 'it must be { "registryHash", "grants" }'],
    ['"grants": [', '"grants": 1, "more": [', 'it must be '],
    ['{', 'PLANTED', 'it must be '],
  ] as const) {
    const read = readRegistry(text.replace(from, to))
    const problemText = 'problem' in read ? read.problem : ''
    expect(problemText).toContain(problem)
    expect(problemText).not.toContain('PLANTED')
  }
})
