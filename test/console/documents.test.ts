/** What documents of a checklist are called in other languages than souk's own, and what files that are taken along are. */
import { expect, test } from 'bun:test'
import { parseFileName } from '../../src/console/lib/api/file-name.ts'
import ar from '../../src/console/lib/i18n/documents/ar.ts'
import mn from '../../src/console/lib/i18n/documents/mn.ts'
import { documentKinds } from '../../src/modules/lending/application/checklist.ts'

test('every document that may be asked for has its name and its description in each language, and nothing else has', () => {
  const asked = Object.keys(documentKinds).flatMap((key) => [key, `${key}.text`])
  for (const words of [ar, mn]) {
    expect(Object.keys(words).sort()).toEqual(asked.sort())
    for (const text of Object.values(words)) expect(text.trim()).not.toBe('')
  }
})

test('a file is called as the server calls it, in whichever letters', () => {
  expect(parseFileName(`attachment; filename="orders.csv"`)).toBe('orders.csv')
  expect(parseFileName(`attachment; filename="____.pdf"; filename*=UTF-8''%D9%83%D8%B4%D9%81.pdf`)).toBe('كشف.pdf')
  expect(parseFileName(`attachment; filename="plain.pdf"; filename*=UTF-8''%E0%A4%A`)).toBe('plain.pdf')
  expect(parseFileName('inline')).toBeUndefined()
  expect(parseFileName(null)).toBeUndefined()
})
