import { expect, test } from 'bun:test'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCountries } from '../../src/clients/countries.ts'
import type { Log } from '../../src/lib/log.ts'
import { temporaryDir } from '../support/database.ts'
import { mmdb } from '../support/mmdb.ts'

function openFile(bytes: Uint8Array | undefined) {
  const file = join(temporaryDir(), 'countries.mmdb')
  if (bytes) writeFileSync(file, bytes)
  const events: string[] = []
  const record = (event: string) => void events.push(event)
  const log: Log = { debug: record, info: record, warn: record, error: record }
  const clock = { ms: 0 }
  return { file, events, clock, countryOf: openCountries(file, log, () => clock.ms) }
}

test('the country of an address is read from every form that the file uses', () => {
  const { countryOf } = openFile(
    mmdb({
      '203.0.113.0/24': { country: { iso_code: 'AE' }, registered_country: { iso_code: 'US' } },
      '198.51.100.0/25': { country_code: 'mn', country: 'Mongolia' },
      '198.51.100.128/25': { country: 'FR' },
      '192.0.2.0/24': { country: { iso_code: 'XX' } },
      '192.0.3.0/24': { country: { iso_code: 'Nowhere' } },
      '192.0.4.0/24': { registered_country: { iso_code: 'US' } },
      '2001:db8::/32': { country: { iso_code: 'SG' } },
    }),
  )
  for (const [address, country] of [
    ['203.0.113.9', 'AE'],
    ['::ffff:203.0.113.9', 'AE'],
    ['198.51.100.127', 'MN'],
    ['198.51.100.128', 'FR'],
    ['2001:db8::9', 'SG'],
    ...['192.0.2.1', '192.0.3.1', '192.0.4.1', '8.8.8.8', '2001:db9::1', '010.2.3.4', 'x', ''].map((one) => [one, undefined] as const),
  ] as const)
    expect([address, countryOf(address)]).toEqual([address, country])
})

test('a file with only IPv4 has no country for an IPv6 address', () => {
  // 2001:db8:: begins with the bits of 32.1.13.184.
  const { countryOf } = openFile(mmdb({ '32.0.0.0/8': { country: { iso_code: 'US' } } }, 4))
  expect([countryOf('32.1.13.184'), countryOf('2001:db8::1')]).toEqual(['US', undefined])
})

test('opening a file that is missing, foreign, empty or truncated fails with its name', () => {
  const complete = mmdb({ '203.0.113.0/24': { country: { iso_code: 'AE' } } })
  for (const bytes of [undefined, Buffer.alloc(0), Buffer.from('not a database'), complete.subarray(0, -70), complete.subarray(-60)])
    expect(() => openFile(bytes)).toThrow(/^GEO_DATABASE can't be read: .*countries\.mmdb/)
})

test('a replaced file is loaded, and a half-written one is ignored until it is complete', () => {
  const { file, events, clock, countryOf } = openFile(mmdb({ '203.0.113.0/24': { country: { iso_code: 'AE' } } }))
  const next = mmdb({ '203.0.113.0/25': { country: { iso_code: 'MN' } } })
  const readAfterInterval = () => {
    clock.ms += 10_000
    return countryOf('203.0.113.9')
  }
  writeFileSync(`${file}.new`, next.subarray(0, 100))
  renameSync(`${file}.new`, file)
  expect(countryOf('203.0.113.9')).toBe('AE')
  expect([readAfterInterval(), readAfterInterval()]).toEqual(['AE', 'AE'])
  writeFileSync(file, next)
  expect(readAfterInterval()).toBe('MN')
  expect(events).toEqual(['geography.not_reloaded', 'geography.reloaded'])
})

test('an address in a damaged part of the file has no country', () => {
  const bytes = mmdb({ '203.0.113.0/24': { country: { iso_code: 'AE' } }, '8.8.8.0/24': 'US' })
  // Replaces the record with a pointer to itself.
  const at = bytes.indexOf(Buffer.from('country')) - 2
  bytes.writeUInt16BE(0x2000, at)
  const { countryOf, events } = openFile(bytes)
  expect(countryOf('203.0.113.9')).toBeUndefined()
  expect(countryOf('8.8.8.8')).toBeUndefined()
  expect(events).toEqual(['geography.unreadable'])
})
