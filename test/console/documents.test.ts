/** Tests the translated names of checklist documents, and the names of downloaded files. */
import { expect, test } from 'bun:test'
import { parseFileName } from '../../src/console/lib/api/file-name.ts'
import ar from '../../src/console/lib/i18n/documents/ar.ts'
import mn from '../../src/console/lib/i18n/documents/mn.ts'
import { documentKinds } from '../../src/modules/lending/application/checklist.ts'

test('every document of a checklist has a name and a description in each language, and there are no others', () => {
  const keys = Object.keys(documentKinds).flatMap((key) => [key, `${key}.text`])
  for (const texts of [ar, mn]) {
    expect(Object.keys(texts).sort()).toEqual(keys.sort())
    for (const text of Object.values(texts)) expect(text.trim()).not.toBe('')
  }
})

test('a downloaded file has the name that the server sends, in any script', () => {
  expect(parseFileName(`attachment; filename="orders.csv"`)).toBe('orders.csv')
  expect(parseFileName(`attachment; filename="____.pdf"; filename*=UTF-8''%D9%83%D8%B4%D9%81.pdf`)).toBe('كشف.pdf')
  expect(parseFileName(`attachment; filename="plain.pdf"; filename*=UTF-8''%E0%A4%A`)).toBe('plain.pdf')
  expect(parseFileName('inline')).toBeUndefined()
  expect(parseFileName(null)).toBeUndefined()
})
