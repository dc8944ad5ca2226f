/**
 * Measures credit: previews of an envelope and of an upgrade against the floor, and previews of an upgrade with many
 * against few repayments.
 */

import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { openInstance } from '../src/instance.ts'
import { dayMs } from '../src/lib/day.ts'
import { startSession } from '../src/modules/identity/auth/service.ts'
import { createMerchant, createSuperAdmin } from '../src/modules/identity/merchant/service.ts'
import { createLender } from '../src/modules/lending/lender/index.ts'
import { importTape } from '../src/modules/lending/repayment/index.ts'
import type { Requests } from './load.ts'
import { figure, measureInTurn, print, quick, report, reportSingle, start, work } from './runs.ts'
import { benchSettings } from './seed.ts'

const few = 10
const many = quick ? 20_000 : 100_000
/** Merchants with ten repayments each. */
const merchants = 200
/** More paths than cached responses, so that most are computed. */
const paths = 20_000

export async function measureLendingCredit(): Promise<void> {
  print(`credit, with a merchant of ${figure(many)} repayments (seeding takes a while)`)
  const dataDir = join(work, 'credit')
  const { token, busy, quiet, others } = await seedCredit(dataDir)
  const souk = await start('souk.ts', dataDir, 'FULL', JSON.stringify({ LENDING_PLATFORM_ENABLED: 'true' }))
  const floor = await start('floor-credit.ts', dataDir)
  const envelopePreviews: Requests = {
    method: 'POST',
    paths: ['/admin/lending-application/credit-tier/preview'],
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      cohort: 'US_COMPANY',
      monthlyAvgRevenueUsd: 123_456.78,
      verifiedCollateralUsd: 250_000,
      operationalRisk: 'MEDIUM',
      hardComplianceFlags: [],
    }),
  }
  report('credit-tier preview', '≥ 0.70', await measureInTurn(souk, floor, { souk: envelopePreviews, floor: envelopePreviews }))
  const upgradePreviews: Requests = { paths: others.map((id) => preview(id)) }
  report(
    `upgrade preview, ${merchants} merchants`,
    '≥ 0.70',
    await measureInTurn(souk, floor, { souk: upgradePreviews, floor: upgradePreviews }),
  )
  // With one path every response would be cached: the query differs each time and is ignored.
  const uncached = (id: string): Requests => ({ paths: Array.from({ length: paths }, (_, nth) => `${preview(id)}?${nth}`) })
  const compared = await measureInTurn(souk, souk, { souk: uncached(busy), floor: uncached(quiet) })
  report(`upgrade preview, not cached, ${figure(many)} to ${few} repayments`, '≥ 0.50', compared)
  await souk.stop()
  await floor.stop()
  reportSingle('the same without HTTP', await compareComputation(dataDir, busy, quiet), '< 2')
}

const preview = (merchantId: string): string => `/v2/merchant/credit-tier/upgrade-preview/${merchantId}`

/** Measures how much longer a preview takes for the busy merchant than for the quiet one. */
async function compareComputation(dataDir: string, busy: string, quiet: string): Promise<string> {
  const instance = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'command' })
  const { previewUpgrade } = await import('../src/modules/lending/credit/index.ts')
  const times: Record<string, number> = { [busy]: 0, [quiet]: 0 }
  for (let round = 0; round < 20; round++)
    for (const id of [busy, quiet]) {
      const startedAt = performance.now()
      for (let nth = 0; nth < 500; nth++) await previewUpgrade(instance.deps, id)
      times[id] = (times[id] ?? 0) + performance.now() - startedAt
    }
  await instance.close()
  return ((times[busy] ?? 0) / (times[quiet] ?? 1)).toFixed(2)
}

/** Imports repayments over three years as a loan tape; every fourth is a default. */
async function seedCredit(dataDir: string) {
  const instance = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'server', sqlite: { synchronous: 'OFF' } })
  const { deps } = instance
  const operator = await createSuperAdmin(deps, { email: 'root@example.com', password: 'bench-password' })
  const { data } = await startSession(deps, { id: operator.id, role: 'SUPER_ADMIN' }, system)
  const { id: lenderId } = await createLender(deps, { actor: system }, { displayName: 'Bench Bank' })
  const { user } = await createMerchant(
    deps,
    { email: 'bench@example.com', password: 'bench-password' },
    { name: 'bench', currency: 'USD', country: 'US' },
  )
  await instance.close()
  // Each merchant costs a password hash.
  const db = new Sqlite(join(dataDir, 'souk.db'))
  const ids = Array.from({ length: merchants + 1 }, (_, nth) => `${user.id.slice(0, -4)}${String(nth).padStart(4, '0')}`)
  for (const id of ids)
    db.run(`INSERT INTO users SELECT ?, role, ?, password_hash, created_at FROM users WHERE id = ?`, [id, `${id}@example.com`, user.id])
  db.close()
  const [quiet = '', ...others] = ids
  const instanceWithMerchants = await openInstance({
    config: parseConfig(benchSettings(dataDir)),
    as: 'server',
    sqlite: { synchronous: 'OFF' },
  })
  const now = Date.now()
  const tape = async function* () {
    yield Buffer.from('merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\n')
    const line = (id: string, of: number, nth: number) => {
      const at = new Date(now - Math.floor(((nth + 0.5) / of) * 3 * 365 * dayMs)).toISOString()
      return `${id},${lenderId},${id}-${nth},${nth % 4 === 0 ? 'DEFAULT' : 'ON_TIME'},100,${at},${at}\n`
    }
    for (const id of [quiet, ...others]) for (let nth = 0; nth < few; nth++) yield Buffer.from(line(id, few, nth))
    for (let from = 0; from < many; from += 1_000)
      yield Buffer.from(Array.from({ length: 1_000 }, (_, nth) => line(user.id, many, from + nth)).join(''))
  }
  const { recorded } = await importTape(instanceWithMerchants.deps, { actor: system }, tape)
  if (recorded !== many + few * ids.length) throw new Error(`only ${recorded} repayments were recorded`)
  await instanceWithMerchants.close()
  return { token: data.accessToken, busy: user.id, quiet, others }
}
