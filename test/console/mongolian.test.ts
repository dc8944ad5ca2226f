/** Compares the console's Mongolian formats, for browsers without them, with the `Intl` of this runtime. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { agoText, dayText, momentText, moneyInParts, shortDayText, units } from '../../src/console/lib/format/mongolian.ts'
import { countries, currencies } from '../../src/console/lib/format/mongolian-names.ts'
import { wallTimeAt } from '../../src/console/lib/format/zoned-time.ts'
import { currencies as known } from '../../src/lib/money.ts'

const zones = ['UTC', 'Asia/Ulaanbaatar', 'America/St_Johns', 'Pacific/Apia'] as const
const at = fc.date({ min: new Date('1971-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })

test('this runtime supports Mongolian', () => {
  expect(Intl.DateTimeFormat.supportedLocalesOf('mn')).toEqual(['mn'])
})

test('days and times are formatted as in CLDR, in every time zone', () => {
  fc.assert(
    fc.property(at, fc.constantFrom(...zones), (date, timeZone) => {
      const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('mn', { ...options, timeZone }).format(date)
      const wall = wallTimeAt(date.getTime(), timeZone)
      expect(momentText(wall)).toBe(format({ dateStyle: 'medium', timeStyle: 'short' }))
      expect(dayText(wall)).toBe(format({ dateStyle: 'medium' }))
      expect(shortDayText(wall)).toBe(format({ day: 'numeric', month: 'short' }))
    }),
    { numRuns: 60 },
  )
})

test('relative times and durations are formatted as in CLDR', () => {
  const relative = new Intl.RelativeTimeFormat('mn', { numeric: 'auto' })
  const number = (value: number) => new Intl.NumberFormat('en').format(value)
  for (const unit of ['day', 'hour', 'minute', 'second'] as const)
    for (const value of [-4_000, -3, -2, -1, 0, 1, 2, 3, 59]) expect(agoText(value, unit, number)).toBe(relative.format(value, unit))
  for (const [unit, unitText] of Object.entries(units))
    expect(`2.5 ${unitText}`).toBe(new Intl.NumberFormat('mn', { style: 'unit', unit, unitDisplay: 'short' }).format(2.5))
})

test('amounts have the separators and the sign position of CLDR, in every currency', () => {
  // Signs that only English shortens, such as that of the yen, are those of English.
  const others = new Set<string>()
  for (const currency of known)
    for (const amount of [1_825_000.5, -3]) {
      const partsIn = (language: string) => new Intl.NumberFormat(language, { style: 'currency', currency }).formatToParts(amount)
      const signOf = (language: string) => partsIn(language).find(({ type }) => type === 'currency')?.value
      if (currency !== 'MNT' && signOf('en') !== signOf('mn')) others.add(currency)
      else
        expect(moneyInParts(partsIn('en'), currency)).toBe(
          partsIn('mn')
            .map(({ value }) => value)
            .join(''),
        )
    }
  expect([...others].sort()).toEqual(['JPY', 'PHP', 'THB'])
})

test('every country and every currency has its name', () => {
  expect([countries['MN'], countries['AE'], currencies['MNT']]).toEqual(['Монгол', 'Арабын Нэгдсэн Эмират Улс', 'Монгол төгрөг'])
  expect(Object.keys(countries)).toHaveLength(249)
  expect(Object.keys(currencies)).toEqual([...known])
})
