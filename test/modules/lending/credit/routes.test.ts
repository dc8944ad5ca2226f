/** Tests the credit previews for operators and for the public. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../../../support/app.ts'
import { createRepayment, lenderIn, previewOf } from '../../../support/repayments.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const on = { LENDING_PLATFORM_ENABLED: 'true' }
const path = '/admin/lending-application/credit-tier/preview'
const figures = { cohort: 'US_COMPANY', monthlyAvgRevenueUsd: 10_000, verifiedCollateralUsd: 20_000, operationalRisk: 'LOW' }
const publicPath = '/v2/merchant/credit-tier/upgrade-preview/'
const eligibility = (merchantId: string, query = '') => `/admin/lending-application/credit-tier/upgrade-eligibility/${merchantId}${query}`

describe('the credit-tier preview', () => {
  test('the credit-tier preview returns only the envelope, at both paths, and writes nothing', async () => {
    await using app = await testApp(on)
    const { token } = await app.superAdmin()
    const { writes, commits } = app.deps.db.stats
    for (const at of [path, `/api/v3${path}`]) {
      const { status, body, headers } = await app.call('POST', at, { token, body: { ...figures, hardComplianceFlags: [] } })
      expect([status, body, headers.get('cache-control')]).toEqual([200, { tier: 'T1', ceilingUsd: 23_000, reason: 'FORMULA' }, 'no-store'])
    }
    expect((await app.call('POST', path, { token, body: { ...figures, hardComplianceFlags: ['PEP'] } })).body.tier).toBe('T0')
    expect((await app.call('POST', path, { token, body: { ...figures, monthlyAvgRevenueUsd: 0.125 } })).status).toBe(400)
    expect([app.deps.db.stats.writes, app.deps.db.stats.commits]).toEqual([writes, commits])
  })

  test('the credit-tier preview refuses invalid figures by name', async () => {
    await using app = await testApp(on)
    const { token } = await app.superAdmin()
    const invalidChanges: [change: object, message: RegExp][] = [
      [{ cohort: 'MARS_LTD' }, /^cohort: must be one of UAE_MAINLAND, /],
      [{ cohort: undefined }, /^cohort:/],
      [{ monthlyAvgRevenueUsd: -0.01 }, /^monthlyAvgRevenueUsd:/],
      [{ monthlyAvgRevenueUsd: '10000' }, /^monthlyAvgRevenueUsd:/],
      [{ monthlyAvgRevenueUsd: 10_000.005 }, /^monthlyAvgRevenueUsd: .* at most two decimals$/],
      [{ verifiedCollateralUsd: 1e13 }, /^verifiedCollateralUsd: must be less than 10000000000000$/],
      [{ verifiedCollateralUsd: null }, /^verifiedCollateralUsd:/],
      [{ operationalRisk: 'low' }, /^operationalRisk: must be one of LOW, MEDIUM, HIGH$/],
      [{ hardComplianceFlags: 'PEP' }, /^hardComplianceFlags:/],
      [{ hardComplianceFlags: [1] }, /^hardComplianceFlags\.0:/],
      [{ hardComplianceFlags: Array(51).fill('A') }, /^hardComplianceFlags:/],
      [{ hardComplianceFlag: ['PEP'] }, /^unknown field: hardComplianceFlag$/],
    ]
    for (const [change, message] of invalidChanges) {
      const { status, body } = await app.call('POST', path, { token, body: { ...figures, ...change } })
      expect([change, status, body.message]).toEqual([change, 400, expect.stringMatching(message)])
    }
  })

  test('a figure with more than two decimals is refused even if a JSON number cannot tell the difference', async () => {
    await using app = await testApp(on)
    const { token } = await app.superAdmin()
    const preview = async (revenue: string) => {
      const raw = JSON.stringify({ ...figures, monthlyAvgRevenueUsd: 0 }).replace(
        '"monthlyAvgRevenueUsd":0',
        `"monthlyAvgRevenueUsd":${revenue}`,
      )
      const { status, body } = await app.call('POST', path, { token, raw, headers: { 'content-type': 'application/json' } })
      return [revenue, status, body.message ?? body.ceilingUsd]
    }
    for (const exact of ['10000', '10000.00', '1e4', '1.00E+4', '100000e-1', '9999999999999.99', '1000000000000000e-10'])
      expect(await preview(exact)).toEqual([exact, 200, expect.any(Number)])
    for (const inexact of ['10000.000000000000001', '9999999999999.990000001', '0.1000000000000000055511151231257827', '1e-400'])
      expect(await preview(inexact)).toEqual([inexact, 400, expect.stringMatching(/^monthlyAvgRevenueUsd:/)])
  })

  test('with lending disabled the path is 404 for every caller, and the public preview remains', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const merchant = await app.merchant()
    for (const prefix of ['', '/api/v3'])
      for (const credentials of [{}, { token }, { token: merchant.token }]) {
        const posted = await app.call('POST', prefix + path, { ...credentials, body: {} })
        const read = await app.call('GET', prefix + eligibility(merchant.id), credentials)
        expect([posted.status, posted.body.message, read.status, read.body.message]).toEqual([404, 'Unknown path', 404, 'Unknown path'])
      }
    expect((await previewOf(app, merchant.id)).status).toBe(200)
    expect((await app.call('GET', '/admin/lenders', { token })).status).toBe(200)
  })
})

async function setUp(app: TestApp) {
  const operator = await app.superAdmin()
  const { id: merchantId } = await app.merchant()
  const lenderId = await lenderIn(app, operator)
  return {
    operator,
    merchantId,
    lenderId,
    add: (outcome: string, day: string, times = 1) =>
      Promise.all(
        Array.from({ length: times }, () => createRepayment(app, operator, { merchantId, lenderId, outcome, dueAt: day, settledAt: day })),
      ),
  }
}

test('the public preview shows signals, tier and gaps of any merchant, is cached like public reads, and writes nothing', async () => {
  await using app = await testApp()
  const { operator, merchantId, add } = await setUp(app)
  const fresh = await previewOf(app, merchantId)
  expect([fresh.status, fresh.headers.get('cache-control'), fresh.headers.get('access-control-allow-origin')]).toEqual([
    200,
    'public, max-age=0, s-maxage=60',
    '*',
  ])
  expect(fresh.body).toEqual({
    merchantId,
    signals: {
      totalSettledOnTime: 0,
      totalLate: 0,
      totalDefaults: 0,
      trailingTwelveMonthDefaults: 0,
      lenderCount: 0,
      mostRecentSettlementAt: null,
    },
    observedTier: 'T1',
    nextTierGap: {
      targetTier: 'T2',
      onTimeSettlementsNeeded: 3,
      blockingDefaultCount: 0,
      guidance: 'On-time settlements still needed for T2: 3.',
    },
    topTierGap: {
      targetTier: 'T3',
      onTimeSettlementsNeeded: 10,
      blockingDefaultCount: 0,
      guidance: 'On-time settlements still needed for T3: 10.',
    },
  })
  expect((await previewOf(app, merchantId, { 'if-none-match': fresh.headers.get('etag') ?? '' })).status).toBe(304)
  await add('ON_TIME', '2025-06-01T00:00:00.000Z', 3)
  const { writes } = app.deps.db.stats
  expect((await previewOf(app, merchantId)).body).toMatchObject({
    observedTier: 'T2',
    nextTierGap: { targetTier: 'T3' },
    topTierGap: { targetTier: 'T3' },
  })
  expect((await app.call('GET', `/api/v3/v2/merchant/credit-tier/upgrade-preview/${merchantId}`)).body.observedTier).toBe('T2')
  for (const unknownId of ['mer_00000000000000000000000000', operator.id, 'x']) {
    const { status, body } = await previewOf(app, unknownId)
    expect([status, body.message]).toEqual([404, 'No such merchant'])
  }
  expect(app.deps.db.stats.writes).toBe(writes)
})

test('a default stops closing T3 exactly twelve months later, at the last day of a shorter month', async () => {
  await using app = await testApp({}, { startAt: Date.parse('2027-02-28T12:00:00.000Z') })
  const { merchantId, add } = await setUp(app)
  await add('ON_TIME', '2026-01-01T00:00:00.000Z', 10)
  await add('DEFAULT', '2027-02-28T12:00:00.000Z')
  const at = async (time: string) => {
    app.clock.set(Date.parse(time))
    // A response that depends only on the clock is cached for a second. Another URL avoids the cache.
    const { observedTier, signals, topTierGap } = (await app.call('GET', `${publicPath}${merchantId}?${time}`)).body
    return [signals.trailingTwelveMonthDefaults, observedTier, topTierGap?.blockingDefaultCount]
  }
  expect(await at('2027-02-28T12:00:00.000Z')).toEqual([1, 'T1', 1])
  expect(await at('2028-02-28T11:59:59.999Z')).toEqual([1, 'T1', 1])
  // The default is no longer within (now − 12 months, now].
  expect(await at('2028-02-28T12:00:00.000Z')).toEqual([0, 'T3', undefined])
  // On the leap day, the window begins on the last day of February, too.
  expect(await at('2028-02-29T11:59:59.999Z')).toEqual([1, 'T1', 1])
  expect(await at('2028-02-29T12:00:00.000Z')).toEqual([0, 'T3', undefined])
  // A default dated after now does not count, when the clock was set back.
  expect(await at('2027-02-28T11:59:59.999Z')).toEqual([0, 'T3', undefined])
})

test('a default is dated by its settlement, otherwise by its due date, and counted by day', async () => {
  await using app = await testApp({}, { startAt: Date.parse('2026-06-15T10:30:00.000Z') })
  const { operator, merchantId, lenderId } = await setUp(app)
  const moments = [
    '2025-06-15T10:30:00.000Z',
    '2025-06-15T10:30:00.001Z',
    '2025-06-15T23:59:59.999Z',
    '2025-06-16T00:00:00.000Z',
    '2026-06-14T23:59:59.999Z',
    '2026-06-15T00:00:00.000Z',
    '2026-06-15T10:30:00.000Z',
  ]
  for (const dueAt of moments) await createRepayment(app, operator, { merchantId, lenderId, outcome: 'DEFAULT', dueAt, settledAt: null })
  // This default is due before the window and settled within it.
  await createRepayment(app, operator, {
    merchantId,
    lenderId,
    outcome: 'DEFAULT',
    dueAt: '2024-01-01T00:00:00.000Z',
    settledAt: '2026-01-01T00:00:00.000Z',
  })
  const { signals } = (await previewOf(app, merchantId)).body
  expect([signals.totalDefaults, signals.trailingTwelveMonthDefaults]).toEqual([8, 7])
})

test("eligibility is the higher of the lender's tier and the earned one, and T0 earns nothing", async () => {
  await using app = await testApp(on)
  const { operator, merchantId, add } = await setUp(app)
  await add('ON_TIME', '2025-06-01T00:00:00.000Z', 3)
  const { token } = operator
  const eligibilityAt = async (query: string) => (await app.call('GET', eligibility(merchantId, query), { token })).body
  const { merchantId: _, observedTier, ...preview } = (await previewOf(app, merchantId)).body
  expect(await eligibilityAt('')).toEqual({ merchantId, baseTier: 'T1', earnedTier: observedTier, effectiveTier: 'T2', ...preview })
  expect((await eligibilityAt('?baseTier=T0')).effectiveTier).toBe('T0')
  expect((await eligibilityAt('?baseTier=T3')).effectiveTier).toBe('T3')
  for (const query of ['?baseTier=T4', '?tier=T1'])
    expect((await app.call('GET', eligibility(merchantId, query), { token })).status).toBe(400)
  expect((await app.call('GET', eligibility('mer_00000000000000000000000000'), { token })).status).toBe(404)
})
