import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { AppError } from '../../../../src/core/errors.ts'
import { checkFileType } from '../../../../src/modules/lending/lending-document/content-type.ts'
import { csv, docxTypes, jpeg, pdf, png, sheet, workbookTypes, xlsx, xlsxType, zip } from '../../../support/lending-documents.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const identity = ['application/pdf', 'image/jpeg', 'image/png']
const accounts = ['application/pdf', xlsxType, 'text/csv']

async function check(type: string, bytes: Uint8Array, size = 1_000): Promise<Buffer | string> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const accepted = accounts.includes(type) ? accounts : identity
  try {
    const checked: Uint8Array[] = []
    for await (const piece of checkFileType({ type, accepted }, pieces())) checked.push(piece)
    return Buffer.concat(checked)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.kind
  }
}

test('a file of its declared type passes unchanged in any chunks', async () => {
  const files: [string, Buffer][] = [
    ['application/pdf', pdf()],
    ['application/pdf', pdf(300_000)],
    ['image/jpeg', jpeg],
    ['image/png', png],
    [xlsxType, xlsx],
    ['text/csv', csv],
    ['text/csv', Buffer.concat(Array.from({ length: 5_000 }, () => csv))],
    ['text/csv', Buffer.concat([Buffer.from('\ufeff'), csv])],
  ]
  for (const [type, bytes] of files)
    for (const size of [1, 7, 70_000, 1_000_000].filter((one) => bytes.length / one < 50_000)) {
      const result = await check(type, bytes, size)
      expect([type, bytes.length, size, Buffer.isBuffer(result) && result.equals(bytes)]).toEqual([type, bytes.length, size, true])
    }
})

test('a file of another type is refused before a byte passes', async () => {
  const files: Record<string, Buffer> = { 'application/pdf': pdf(), 'image/jpeg': jpeg, 'image/png': png, [xlsxType]: xlsx }
  const others = {
    exe: Buffer.concat([Buffer.from('MZ'), randomBytes(500)]),
    html: Buffer.from('<!doctype html><script>'),
    zip: zip([{ name: 'a.txt', content: csv }]),
    docx: zip([docxTypes, { name: 'word/document.xml', content: csv }]),
    gif: Buffer.from('GIF89a..........'),
    noise: Buffer.alloc(500, 7),
  }
  for (const type of [...Object.keys(files), 'text/csv']) {
    for (const [name, bytes] of Object.entries({ ...files, ...others })) {
      // An HTML page is text and so a valid CSV. It is never displayed.
      if (name === type || (type === 'text/csv' && (name === 'html' || name === 'gif' || name === 'noise'))) continue
      expect([type, name, await check(type, bytes)]).toEqual([type, name, 'UNSUPPORTED_MEDIA'])
    }
  }
  expect(await check('application/pdf', Buffer.alloc(0))).toBe('INVALID')
})

test('the first bytes decide the type: later signatures of polyglots are ignored', async () => {
  const pdfThenZip = Buffer.concat([pdf(), xlsx])
  expect(await check('application/pdf', pdfThenZip)).toEqual(pdfThenZip)
  expect(await check(xlsxType, pdfThenZip)).toBe('UNSUPPORTED_MEDIA')
  expect(await check('application/pdf', Buffer.concat([xlsx, pdf()]))).toBe('UNSUPPORTED_MEDIA')
  expect(await check('application/pdf', Buffer.concat([Buffer.alloc(10), pdf()]))).toBe('UNSUPPORTED_MEDIA')
  expect(await check('text/csv', pdf())).toBe('UNSUPPORTED_MEDIA')
})

test('a CSV is UTF-8 to its end without NUL', async () => {
  const long = Buffer.alloc(200_000, 'a,b\n')
  for (const [name, invalidBytes] of [
    ['NUL', Buffer.from([0])],
    ['latin1', Buffer.from([0x5a, 0xfc, 0x72, 0x69])],
    ['half a character', Buffer.from([0xe2, 0x82])],
    ['UTF-16', Buffer.from('a,b', 'utf16le')],
    ['surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ] as const) {
    for (const at of [0, 100, 150_000, 200_000])
      expect([
        name,
        at,
        await check(
          'text/csv',
          Buffer.concat([long.subarray(0, at), invalidBytes, ...(name === 'half a character' ? [] : [long.subarray(at)])]),
        ),
      ]).toEqual([name, at, 'UNSUPPORTED_MEDIA'])
  }
})

test('a text that begins like another format is still a CSV', async () => {
  for (const start of ['BM,1\n', 'ID3,1\n', 'OTTO,1\n', 'II*,1\n', '<?xml,1\n', 'Rar!,1\n']) {
    const bytes = Buffer.from(`${start}${csv}`)
    expect([start, await check('text/csv', bytes)]).toEqual([start, bytes])
  }
})

test('an xlsx is recognised by its entries in any usual order, without unpacking a bomb', async () => {
  const rels = { name: '_rels/.rels', content: Buffer.from('<Relationships/>') }
  const big = { name: 'xl/worksheets/sheet1.xml', content: randomBytes(400_000), store: true as const }
  const bomb = { name: 'xl/worksheets/sheet1.xml', content: Buffer.alloc(64 * 1024 * 1024) }
  for (const entries of [
    [workbookTypes, rels, sheet],
    [rels, workbookTypes, sheet],
    [rels, sheet, workbookTypes],
    [rels, big, workbookTypes],
    [workbookTypes, big],
    [workbookTypes, bomb],
  ]) {
    const bytes = zip(entries)
    const names = entries.map(({ name }) => name)
    expect([names, Buffer.isBuffer(await check(xlsxType, bytes, 16_000))]).toEqual([names, true])
  }
  // An archive that unpacks to more than its declared size, in the only entry that is inspected.
  const lying = zip([{ name: '[Content_Types].xml', content: Buffer.alloc(256 * 1024 * 1024), declared: 500 }, sheet])
  const before = process.memoryUsage().rss
  expect(['UNSUPPORTED_MEDIA', lying]).toContainEqual(await check(xlsxType, lying, 64_000))
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
}, 900_000)

test('no bytes cause an error other than a refusal', async () => {
  const starts = [
    pdf(20),
    png.subarray(0, 20),
    jpeg.subarray(0, 20),
    xlsx.subarray(0, 60),
    Buffer.from('PK\x03\x04'),
    Buffer.from('\x1f\x8b\x08'),
    Buffer.from('II*\0'),
    Buffer.from('ID3'),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...starts),
      fc.uint8Array({ maxLength: 400 }),
      fc.constantFrom(...accounts, ...identity),
      async (start, rest, type) => {
        const result = await check(type, Buffer.concat([start, rest]))
        expect(Buffer.isBuffer(result) || result === 'UNSUPPORTED_MEDIA').toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})
