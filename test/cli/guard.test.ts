import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { mmdb } from '../support/mmdb.ts'
import { describeProcesses, souk } from './souk.ts'

describeProcesses('souk help guard', () => {
  test('souk help guard names the condition that refuses an address, and exits 1 if one does', async () => {
    const dataDir = temporaryDir()
    const file = join(dataDir, 'countries.mmdb')
    writeFileSync(file, mmdb({ '203.0.113.0/24': { country: { iso_code: 'FR' } } }))
    const settings = {
      OPERATOR_IP_ALLOWLIST: '203.0.113.0/24,::1',
      OPERATOR_COUNTRIES: 'AE',
      GEO_DATABASE: file,
      TRUSTED_PROXIES: '10.0.0.0/8',
      GEO_COUNTRY_HEADER: 'cf-ipcountry',
    }
    for (const [address, flags, status, ...lines] of [
      [
        '::1',
        [],
        0,
        'address  passes: OPERATOR_IP_ALLOWLIST is 203.0.113.0/24, ::1',
        'country  passes: loopback and private addresses have no country',
      ],
      ['198.51.100.1', [], 1, 'address  refused', 'country  not looked at'],
      [
        '::ffff:203.0.113.9',
        [],
        1,
        'calls from 203.0.113.9 is refused with 403',
        'country  refused: GEO_DATABASE says FR, OPERATOR_COUNTRIES is AE',
      ],
      ['203.0.113.9', ['--country', 'ae'], 0, 'is let in', 'country  passes: a proxy says AE', 'TRUSTED_PROXIES (10.0.0.0/8)'],
    ] as [string, string[], number, ...string[]][]) {
      const answer = await souk(['help', 'guard', address, ...flags], dataDir, { settings })
      expect([address, answer.status, answer.stderr]).toEqual([address, status, ''])
      for (const line of lines) expect(answer.stdout).toContain(line)
    }
    const withoutFlags = await souk(['help', 'guard', '203.0.113.9'], dataDir, {
      settings: { OPERATOR_IP_ALLOWLIST: '203.0.113.9', OPERATOR_COUNTRIES: 'AE' },
    })
    expect([
      withoutFlags.status,
      withoutFlags.stdout.includes('Nothing can say a country'),
      withoutFlags.stdout.includes('TRUSTED_PROXIES is not set'),
    ]).toEqual([1, true, true])
    // A country header without a trusted proxy admits no operator.
    const { GEO_COUNTRY_HEADER: _, ...withoutHeader } = settings
    const refused = await souk(['help', 'guard', '203.0.113.9', '--country', 'AE'], dataDir, { settings: withoutHeader })
    expect([refused.status, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toStartWith('--country needs a trusted proxy')
  })
})
