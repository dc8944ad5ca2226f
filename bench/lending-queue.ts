/** Times the combinations of filters of the review queue; see compare-sizes.ts. */
import { sql } from 'drizzle-orm'
import { engine } from '../db/columns.ts'
import { system } from '../src/core/command-context.ts'
import type { Instance } from '../src/instance.ts'
import { startSession } from '../src/modules/identity/auth/service.ts'
import { createMerchant, createSuperAdmin } from '../src/modules/identity/merchant/service.ts'
import { ask, fastestTimes, finish, openMeasured, type Source } from './measured-instance.ts'

const batch = 20_000
const password = 'bench-password'

/**
 * Inserts applications by SQL, with few distinct values, so that every combination fills a page even in the small
 * queue.
 */
async function seed({ deps }: Instance, merchantId: string, applications: number): Promise<void> {
  const numbers = (from: number, to: number) =>
    engine === 'sqlite'
      ? sql`with recursive numbers(n) as (select ${from} union all select n + 1 from numbers where n + 1 < ${to}) select n from numbers`
      : sql`select n from generate_series(${from}::bigint, ${to}::bigint - 1) as numbers(n)`
  const oneOf = (which: string, ...values: (string | null)[]) =>
    sql.raw(
      `case ${which} % ${values.length} ${values.map((word, nth) => `when ${nth} then ${word ? `'${word}'` : 'null'}`).join(' ')} end`,
    )
  for (let from = 0; from < applications; from += batch)
    await deps.db.write(async (tx) => {
      await tx.rows(sql`
        insert into lending_applications (
          id, merchant_id, cohort, tier, status, requested_amount_usd, requested_term_months, purpose_code, selected_tier1_partner,
          selected_tier2_partner, submitted_at, queued_at, created_by, created_at, updated_at, version, documentation_completed
        )
        select ${engine === 'sqlite' ? sql`printf('loan_%026d', n)` : sql`'loan_' || lpad(n::text, 26, '0')`}, ${merchantId},
          ${oneOf('(n / 4)', 'US_COMPANY', 'MN_SOLE', 'UK_LTD')},
          ${oneOf('(n / 4)', 'TIER_1_REFERRAL', 'TIER_1_REFERRAL', 'TIER_2_PARTNER')},
          ${oneOf('n', 'UNDER_REVIEW', 'APPROVED', 'UNDER_REVIEW', 'WITHDRAWN')}, 100000 + n * 100, 1 + n % 60, 'INVENTORY',
          ${oneOf('(n / 12)', 'HARBOR_INVENTORY', 'CARAVAN_TRADE')}, ${oneOf('(n / 24)', 'partner-3', null)},
          1700000000000 + n * 1000, 1700000000000 + n * 1000, ${merchantId}, 1700000000000, 1700000000000, 2,
          '{"items":[{"key":"owner_id","status":"UPLOADED"},{"key":"ubo_declaration","status":"UPLOADED"}]}'
        from (${numbers(from, Math.min(from + batch, applications))}) as numbered
        returning 1 as done`)
    })
  await deps.db.read.rows(sql`analyze lending_applications`).catch(() => deps.db.write(async (tx) => void (await tx.rows(sql`analyze`))))
}

async function open(source: Source) {
  const instance = await openMeasured(source, { LENDING_PLATFORM_ENABLED: 'true' })
  const { deps } = instance
  const operator = await createSuperAdmin(deps, { email: 'root@example.com', password })
  const shop = { name: 'bench', currency: 'USD', country: 'US' }
  const { user } = await createMerchant(deps, { email: 'bench@example.com', password }, shop, system)
  await seed(instance, user.id, source.size)
  const { data } = await startSession(deps, { id: operator.id, role: 'SUPER_ADMIN' }, system)
  const headers = { authorization: `Bearer ${data.accessToken}` }
  return { instance, page: async (query: string) => (await ask(instance, `/admin/lending-application?limit=100${query}`, headers)).ms }
}

const optionalParameter = (name: string, ...values: string[]) => ['', ...values.map((value) => `&${name}=${value}`)]
const queries = optionalParameter('status', 'APPROVED').flatMap((status) =>
  optionalParameter('tier', 'TIER_1_REFERRAL').flatMap((tier) =>
    optionalParameter('cohort', 'US_COMPANY').flatMap((cohort) =>
      optionalParameter('partner', 'HARBOR_INVENTORY', 'partner-3', 'nobody').map((partner) => status + tier + cohort + partner),
    ),
  ),
)

const { instances, rounds }: { instances: readonly Source[]; rounds: number } = await Bun.stdin.json()
const queues = []
for (const source of instances) queues.push(await open(source))
const pages = queues.map(({ page }) => page)
const times = await fastestTimes([...queries, '&page=10'], pages, { rounds, repetitions: 2 })
await finish(
  times,
  queues.map(({ instance }) => instance),
)
