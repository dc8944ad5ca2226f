import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { attachmentOf, fileNameOf } from '../../../../src/modules/lending/lending-document/domain.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('a file name is read from content-disposition in each common form', () => {
  const named = (header: string) => fileNameOf(header)
  expect(named('attachment; filename="statement 2026.pdf"')).toBe('statement 2026.pdf')
  expect(named('attachment; filename=statement.pdf')).toBe('statement.pdf')
  expect(named('inline; FILENAME="a \\"quoted\\" name.pdf"')).toBe('a quoted name.pdf')
  expect(named(`attachment; filename="plain.pdf"; filename*=UTF-8''K%C3%B6ln.pdf`)).toBe('Köln.pdf')
  expect(named(Buffer.from('attachment; filename="Köln.pdf"').toString('latin1'))).toBe('Köln.pdf')
  expect(named('attachment; filename="K\u00f6ln.pdf"')).toBe('Köln.pdf')
  for (const none of [
    'attachment',
    'attachment; filename=""',
    'attachment; filename="../../"',
    `attachment; filename*=UTF-8''%ZZ`,
    'nonsense',
  ])
    expect([none, named(none)]).toEqual([none, null])
  expect(fileNameOf(null)).toBeNull()
})

test('a file name has no path, control or invisible character, and a limited length that keeps its extension', () => {
  expect(fileNameOf('attachment; filename="../../etc/passwd"')).toBe('passwd')
  expect(fileNameOf('attachment; filename="C:\\\\Users\\\\me\\\\scan.pdf"')).toBe('scan.pdf')
  expect(fileNameOf(`attachment; filename*=UTF-8''a%00b%0d%0ac%E2%80%AEfdp.exe`)).toBe('abcfdp.exe')
  expect(fileNameOf(`attachment; filename*=UTF-8''..%2f..%2f.htaccess`)).toBe('htaccess')
  expect(fileNameOf(`attachment; filename="${'x'.repeat(500)}.pdf"`)).toBe(`${'x'.repeat(146)}.pdf`)
})

test('any file name yields one ASCII header that says attachment and ends with the extension of its type', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('application/pdf', 'image/jpeg', 'text/csv'),
      (name, mimeType) => {
        const originalName = fileNameOf(`attachment; filename="${name.replace(/["\\]/g, '')}"`)
        const header = attachmentOf({ originalName, key: 'owner_id', mimeType })
        expect(header).toMatch(/^attachment; filename="[ -~]*\.(pdf|jpe?g|csv)"; filename\*=UTF-8''[!-~]*\.(pdf|jpe?g|csv)$/i)
        expect(header.split('"').length).toBe(3)
      },
    ),
  )
  expect(attachmentOf({ originalName: null, key: 'owner_id', mimeType: 'image/jpeg' })).toContain('filename="owner_id.jpg"')
  expect(attachmentOf({ originalName: 'invoice.html', key: 'owner_id', mimeType: 'application/pdf' })).toContain(
    'filename="invoice.html.pdf"',
  )
  expect(attachmentOf({ originalName: 'Scan.JPEG', key: 'owner_id', mimeType: 'image/jpeg' })).toContain('filename="Scan.JPEG"')
})
