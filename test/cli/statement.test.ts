import { expect, test } from 'bun:test'
import { readStatement } from '../../src/cli/statement.ts'

const hash = `0x${'ab'.repeat(32)}`
const c = { merchantRef: hash, loanRef: hash, outcome: 0, amountUsdCents: 1, dueAt: 1, settledAt: 1 }
const problems = (schema: 'A' | 'B' | 'C' | 'D', statement: unknown) => {
  const read = readStatement(schema, JSON.stringify(statement))
  return 'problems' in read ? read.problems : []
}

test('a statement file that fits its schema has no problems', () => {
  expect(problems('C', c)).toEqual([])
  expect(problems('C', { ...c, outcome: 'DEFAULT', settledAt: null, recipient: '0x00000000000000000000000000000000000000b1' })).toEqual([])
})

test.each([
  [{ outcome: 3 }, 'outcome must be one of ON_TIME, LATE, DEFAULT, or a whole number from 0 to 2'],
  [{ outcome: 'on time' }, 'outcome must be one of '],
  [{ outcome: 0.5 }, 'outcome must be one of '],
  [{ amountUsdCents: -1 }, 'amountUsdCents must be a whole number from 0 to 18446744073709551615'],
  [{ amountUsdCents: '18446744073709551616' }, 'amountUsdCents must be '],
  [{ amountUsdCents: 2 ** 53 }, 'amountUsdCents must be '],
  [{ amountUsdCents: '1e3' }, 'amountUsdCents must be '],
  [{ dueAt: '2026-02-30T00:00:00Z' }, 'dueAt must be a whole second since 1970'],
  [{ dueAt: '2026-02-03' }, 'dueAt must be '],
  [{ dueAt: '2026-02-03T00:00:00.500Z' }, 'dueAt must be '],
  [{ dueAt: '1969-12-31T23:59:59Z' }, 'dueAt must be '],
  [{ dueAt: null }, 'dueAt must be '],
  [{ dueAt: 1_764_460_800_000 }, 'dueAt must be a whole second since 1970'],
  [{ settledAt: null }, 'settledAt is required, except for the outcome DEFAULT'],
  [{ merchantRef: 'mer_1' }, 'merchantRef must be an id such as mer_… with 26 characters, or its hash: 0x and 64 hexadecimal digits'],
  [{ merchantRef: '0x12' }, 'merchantRef must be '],
  [{ loanRef: '0x12' }, 'loanRef must be a name of at most 200 characters, or its hash'],
  [{ loanRef: ' ' }, 'loanRef must be '],
  [{ loanRef: 17 }, 'loanRef must be '],
  [{ recipient: '0x12' }, 'recipient must be 0x and 40 hexadecimal digits'],
  [{ recipient: '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }, 'recipient must have the checksum'],
  [{ PLANTED: 1 }, 'unknown field: PLANTED'],
  [{ toString: 1 }, 'unknown field: toString'],
])('a statement file with %p is refused with the name of the field and without its value', (change, problem) => {
  const reported = problems('C', { ...c, ...change })
  expect(reported).toEqual([expect.stringContaining(problem)])
})

test('all problems of a statement are reported together, and a value that is no object is refused', () => {
  const { loanRef: _, ...rest } = c
  expect(problems('C', { ...rest, outcome: 9, more: 1 })).toEqual([
    'unknown field: more',
    'loanRef is missing',
    'outcome must be one of ON_TIME, LATE, DEFAULT, or a whole number from 0 to 2',
  ])
  for (const none of [[], null, 'text', 1]) expect(problems('C', none)).toEqual(['it is not a JSON object'])
  expect(readStatement('C', '{')).toEqual({ problems: ['it is not a JSON object'] })
  const text = JSON.stringify(c)
  expect(readStatement('C', `\ufeff${text}`)).toEqual(readStatement('C', text))
  expect(readStatement('C', text.replace('{', '{"amountUsdCents":2,'))).toEqual({ problems: ['amountUsdCents is given twice'] })
})

test('the fields of the other schemas have their own ranges', () => {
  const d = {
    providerRef: hash,
    subjectRef: hash,
    archetype: 'generic',
    claimType: 0,
    observations: 1,
    periodStart: 1,
    periodEnd: 1,
    evidenceHash: hash,
  }
  expect(problems('D', d)).toEqual([])
  expect(
    problems('D', { ...d, observations: 2 ** 32, claimType: 256, archetype: 'shop', providerRef: 'lend_1', evidenceHash: 'PLANTED' }),
  ).toEqual([
    expect.stringContaining('providerRef must be an id such as prov_…'),
    'archetype must be one of generic, warehouse, third_party_logistics, cross_border, or a whole number from 0 to 3',
    'claimType must be a whole number from 0 to 255',
    'observations must be a whole number from 0 to 4294967295',
    'evidenceHash must be 0x and 64 hexadecimal digits',
  ])
  expect(problems('D', { ...d, periodEnd: 0 })).toEqual(['periodEnd must not be before periodStart'])
  const a = { merchantRef: hash, shopUrl: 'https://shop.example', method: 1, evidenceHash: hash, verifiedAt: 1 }
  expect(problems('A', a)).toEqual([])
  for (const shopUrl of [
    'ftp://shop.example',
    'shop.example',
    'https://me:secret@shop.example',
    `https://shop.example/${'a'.repeat(2_000)}`,
  ])
    expect(problems('A', { ...a, shopUrl })).toEqual([expect.stringContaining('shopUrl must be an http or https URL')])
})
