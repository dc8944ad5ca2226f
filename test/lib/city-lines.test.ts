import { expect, test } from 'bun:test'
import { cityLines } from '../../src/lib/city-lines.ts'

test('an address has city, province and postal code in the order of its country', () => {
  expect(cityLines({ city: 'New York', province: 'NY', postalCode: '10001', countryCode: 'US' })).toEqual(['New York, NY 10001'])
  expect(cityLines({ city: 'Portland', province: 'ME', countryCode: 'US' })).toEqual(['Portland, ME'])
  expect(cityLines({ city: 'Sydney', province: 'NSW', postalCode: '2000', countryCode: 'AU' })).toEqual(['Sydney NSW 2000'])
  expect(cityLines({ city: 'London', province: null, postalCode: 'SW1A 1AA', countryCode: 'GB' })).toEqual(['London', 'SW1A 1AA'])
  expect(cityLines({ city: 'Ulaanbaatar', province: '', postalCode: '14200', countryCode: 'MN' })).toEqual(['Ulaanbaatar 14200'])
  expect(cityLines({ city: 'Köln', province: 'NRW', postalCode: '50667', countryCode: 'DE' })).toEqual(['50667 Köln', 'NRW'])
  expect(cityLines({ city: 'Kuwait City', countryCode: 'KW' })).toEqual(['Kuwait City'])
})
