import { describe, expect, test } from 'bun:test'
import { isCountry } from '../../../../src/modules/shop/countries/domain.ts'
import { testApp } from '../../../support/app.ts'

type Country = { code: string; code3: string; name: string; currency: string | null; callingCode: string | null; region: string }

describe('countries', () => {
  test('the list has the 249 countries of ISO 3166-1, each once and with all fields', async () => {
    await using app = await testApp()
    const answer = await app.call('GET', '/locations/countries', { headers: { 'integration-api-key': 'test-only-integration-key' } })
    expect(answer.status).toBe(200)
    const data = answer.body.data as Country[]
    expect(data).toHaveLength(249)
    for (const field of ['code', 'code3', 'name'] as const) expect(new Set(data.map((country) => country[field])).size).toBe(249)
    for (const country of data) {
      expect(Object.keys(country)).toEqual(['code', 'code3', 'name', 'currency', 'callingCode', 'region'])
      expect(country.code).toMatch(/^[A-Z]{2}$/)
      expect(country.code3).toMatch(/^[A-Z]{3}$/)
      expect(country.name.length).toBeGreaterThan(2)
      if (country.currency !== null) expect(country.currency).toMatch(/^[A-Z]{3}$/)
      if (country.callingCode !== null) expect(country.callingCode).toMatch(/^\+\d{1,6}$/)
    }
    expect(data.map(({ code }) => code)).toEqual(data.map(({ code }) => code).sort())
    expect(data.find(({ code }) => code === 'AE')).toEqual({
      code: 'AE',
      code3: 'ARE',
      name: 'United Arab Emirates',
      currency: 'AED',
      callingCode: '+971',
      region: 'Asia',
    })
    expect(data.find(({ code }) => code === 'MN')).toMatchObject({ code3: 'MNG', currency: 'MNT' })
    const regionOf = (wanted: string) => data.find(({ code }) => code === wanted)?.region
    expect(['KE', 'AQ', 'AE', 'DE', 'US', 'NZ', 'BR'].map(regionOf)).toEqual([
      ...['Africa', 'Antarctica', 'Asia', 'Europe', 'North America', 'Oceania', 'South America'],
    ])
  })

  test('the list of countries requires the exact integration key', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const key = 'test-only-integration-key'
    for (const value of [key.slice(0, -1), `${key}x`, key.toUpperCase(), `${key}, ${key}`, 'x']) {
      const answer = await app.call('GET', '/locations/countries', { headers: { 'integration-api-key': value } })
      expect([value, answer.status]).toEqual([value, 401])
      expect(answer.body).toEqual({
        statusCode: 401,
        message: 'A valid integration-api-key is required',
        error: 'Unauthorized',
        code: 'unauthenticated',
      })
    }
    expect((await app.call('GET', '/locations/countries')).status).toBe(401)
    expect((await app.call('GET', '/locations/countries', { token, key: secretKey })).status).toBe(401)
  })

  test('isCountry accepts only codes that ISO 3166-1 assigns', () => {
    for (const code of ['AE', 'US', 'MN', 'TW', 'AQ']) expect([code, isCountry(code)]).toEqual([code, true])
    for (const code of ['XK', 'AC', 'TA', 'EU', 'UK', 'ZZ', 'ae', '', 'constructor']) expect([code, isCountry(code)]).toEqual([code, false])
  })
})
