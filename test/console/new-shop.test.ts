/** Tests the values of the form for a new shop. */
import { expect, test } from 'bun:test'
import { currencyOf, handleOf } from '../../src/console/screens/new-shop/new-shop.domain.ts'
import { countryCodes } from '../../src/lib/country-code.ts'
import { isCurrency } from '../../src/lib/money.ts'
import { shopNamePattern } from '../../src/modules/shop/shop/domain.ts'

test('a handle is derived from the title, and is empty where too little of the title is Latin', () => {
  const titles = ['Café Zürich', "Sara's  Shop!", '  Lamps & Co. ', 'АБВ', 'متجر', 'A', `${'long '.repeat(30)}`]
  expect(titles.map(handleOf).slice(0, 6)).toEqual(['cafe-zurich', 'saras-shop', 'lamps-co', '', '', ''])
  for (const handle of titles.map(handleOf).filter((one) => one !== '')) expect(handle).toMatch(new RegExp(shopNamePattern))
})

test('the usual currency of a country is one that the API accepts', () => {
  const currencies = countryCodes.map(currencyOf).filter((one) => one !== '')
  expect(currencies.length).toBeGreaterThan(50)
  expect(currencies.filter((code) => !isCurrency(code))).toEqual([])
  expect([currencyOf('AE'), currencyOf('DE'), currencyOf('XX')]).toEqual(['AED', 'EUR', ''])
})
