import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, problemsMax, type Rule } from '../../../core/integrity-check.ts'
import { activeTimesOf, alwaysActive, type Grant, grantLine, grantsOf, type Owner } from './domain.ts'

const addressesBatch = 200

// Built on demand, since only `souk check` uses it.
const rules = (): readonly Rule[] => [
  {
    subject: 'counts of the trust fabric',
    broken: sql`
      with counted as (
        select 'lenders.total' as name, 0 as chain_id, count(*) as n from lenders
        union all select 'lenders.active', 0, count(*) from lenders where status = 'ACTIVE'
        union all select 'serviceProviders.total', 0, count(*) from service_providers
        union all select 'serviceProviders.active', 0, count(*) from service_providers where status = 'ACTIVE'
        union all select 'methodologies.totalLenders', 0, count(distinct lender_id) from methodologies
        union all select 'methodologies.activeVersions', 0, count(*) from methodologies where status = 'ACTIVE'
        union all select 'attestations.' || schema, chain_id, count(*) from attestations where is_counted group by schema, chain_id),
      names as (select name, chain_id from trust_counts union select name, chain_id from counted)
      select n.name as name, n.chain_id as chain, coalesce(k.value, 0) as kept, coalesce(c.n, 0) as counted
      from names n
        left join trust_counts k on k.name = n.name and k.chain_id = n.chain_id
        left join counted c on c.name = n.name and c.chain_id = n.chain_id
      where coalesce(k.value, 0) <> coalesce(c.n, 0)
      order by n.name, n.chain_id`,
    say: ({ name, chain, kept, counted }) =>
      `${name}${Number(chain) === 0 ? '' : ` on chain ${chain}`}: stored ${kept}, counted ${counted}`,
  },
  {
    subject: 'counted attestations',
    broken: sql`
      select a.uid as uid, a.chain_id as chain
      from attestations a
      where a.is_counted <> (a.revoked_block is null and not (a.schema = 'D' and a.is_of_self)
        and exists (select 1 from grants g where g.address = a.attester and g.schema = a.schema and g.from_at <= a.block_at
          and (g.to_at is null or g.to_at > a.block_at)))
      order by a.chain_id, a.uid`,
    say: ({ uid, chain }) => `Attestation ${uid} on chain ${chain} is counted though it should not be, or is not and should`,
  },
  {
    subject: 'wallets',
    broken: sql`
      select w.address as address, 'is not a registered address' as what from attester_wallets w
      where not exists (select 1 from attester_addresses r where r.address = w.address)
      union select a.attester, 'has attestations and is not a registered address' from attestations a
      where not exists (select 1 from attester_addresses r where r.address = a.attester)
      union select w.address, 'has two wallets at one time' from attester_wallets w
        join attester_wallets o on o.address = w.address and o.id <> w.id and o.from_at >= w.from_at and (w.to_at is null or o.from_at < w.to_at)
      order by 1, 2`,
    say: ({ address, what }) => `${address} ${what}`,
  },
  {
    subject: 'messages of service providers',
    broken: sql`
      select p.id as id, p.successful_ingestion_count as kept, coalesce(i.n, 0) as counted
      from service_providers p
        left join (select service_provider_id, count(*) as n, max(received_at) as last from ingestions group by service_provider_id) i
          on i.service_provider_id = p.id
      where p.successful_ingestion_count <> coalesce(i.n, 0) or p.last_successful_ingestion_at <> coalesce(i.last, 0)
      order by p.id`,
    say: ({ id, kept, counted }) =>
      `Service provider ${id}: stored ${kept} messages, counted ${counted}, or the time of the last one differs`,
  },
  {
    // The next run reverses a repayment whose attestation no longer counts, so a reversed one may still be linked.
    subject: 'attested repayments',
    broken: sql`
      select r.id as id, 'has the source ATTESTATION, but no known attestation' as what from repayments r
      where r.source = 'ATTESTATION' and r.reversed_at is null
        and r.id not in (select repayment_id from attested_repayments where repayment_id is not null)
      union select a.repayment_id, 'is linked to an attestation, but does not exist or has another source' from attested_repayments a
        left join repayments r on r.id = a.repayment_id
      where a.repayment_id is not null and (r.id is null or r.source <> 'ATTESTATION')
      union select repayment_id, 'is linked to two attestations' from attested_repayments
      where repayment_id is not null group by repayment_id having count(*) > 1
      order by 1, 2`,
    say: ({ id, what }) => `Repayment ${id} ${what}`,
  },
]

/** Checks that the stored counts and grants match the registries and attestations. */
export async function* checkTrustFabric(db: CheckContext): AsyncGenerator<Finding> {
  yield* checkRules(db, rules())
  yield { subject: 'grants', problems: await grantProblems(db.read) }
}

type GrantCheckRow = {
  kind: string
  address: string
  schema: string | null
  owner: string | null
  owner_id: string | null
  status: string | null
  at: number
  to_at: number | null
}

/** Compares grants with wallets and the histories of their owners, a page of addresses per statement. */
async function grantProblems(read: CheckContext['read']): Promise<string[]> {
  const problems: string[] = []
  for (let last = ''; problems.length < problemsMax; ) {
    const addresses = sql`select address from (select address from attester_wallets union select address from grants) a
      where address > ${last} order by address limit ${addressesBatch}`
    const rows = await read.rows<GrantCheckRow>(sql`
      with page as (${addresses})
      select 'grant' as kind, g.address as address, g.schema as schema, null as owner, null as owner_id, null as status, g.from_at as at, g.to_at as to_at, 0 as position
      from grants g join page p on p.address = g.address
      union all select 'wallet', w.address, null, w.owner, w.owner_id, null, w.from_at, w.to_at, 0
      from attester_wallets w join page p on p.address = w.address
      union all select 'status', '', null, 'LENDER', h.lender_id, h.status, h.at, null, h.position
      from lender_status_history h where h.lender_id in (select owner_id from attester_wallets w join page p on p.address = w.address where w.owner = 'LENDER')
      union all select 'status', '', null, 'PROVIDER', h.service_provider_id, h.status, h.at, null, h.position
      from service_provider_status_history h
      where h.service_provider_id in (select owner_id from attester_wallets w join page p on p.address = w.address where w.owner = 'PROVIDER')
      order by 1, 9`)
    const ofKind = (kind: string) => rows.filter((row) => row.kind === kind)
    const histories = Map.groupBy(ofKind('status'), ({ owner_id }) => owner_id)
    const wallets = ofKind('wallet').map(({ address, owner, owner_id, at, to_at }) => ({
      address,
      owner: owner as Owner,
      fromAt: Number(at),
      toAt: to_at === null ? null : Number(to_at),
      activeTimes:
        owner === 'PLATFORM'
          ? alwaysActive
          : activeTimesOf((histories.get(owner_id) ?? []).map(({ status, at }) => ({ status: status ?? '', at: Number(at) }))),
    }))
    const storedLines = linesOf(
      ofKind('grant').map(({ address, schema, at, to_at }) => ({
        address,
        schema: schema as Grant['schema'],
        fromAt: Number(at),
        toAt: to_at === null ? null : Number(to_at),
      })),
    )
    const expectedLines = linesOf(grantsOf(wallets))
    const checked = [...new Set([...storedLines.keys(), ...wallets.map(({ address }) => address)])].sort()
    for (const address of checked)
      if (storedLines.get(address) !== expectedLines.get(address))
        problems.push(`The grants of ${address} differ from its wallets and the active times of their owners`)
    if (checked.length < addressesBatch) break
    last = checked.at(-1) ?? last
  }
  return problems.slice(0, problemsMax)
}

const linesOf = (grants: readonly Grant[]) =>
  new Map([...Map.groupBy(grants, ({ address }) => address)].map(([address, some]) => [address, some.map(grantLine).sort().join('')]))
