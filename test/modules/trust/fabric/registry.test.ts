/**
 * Tests changes of the registry, consecutive and concurrent: after each, the counts equal a recount of all
 * attestations.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { attestations, attesterAddresses, chainBackfills, chainSyncs, grants, trustCounts } from '../../../../db/schema/trust.ts'
import { system } from '../../../../src/core/command-context.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { schemaNames } from '../../../../src/lib/eas.ts'
import { changeLender, createLender } from '../../../../src/modules/lending/lender/index.ts'
import { attestersOf } from '../../../../src/modules/trust/fabric/domain.ts'
import { changePlatformWallet, checkTrustFabric, createPlatformWallet } from '../../../../src/modules/trust/fabric/index.ts'
import { changeProvider, createProvider } from '../../../../src/modules/trust/service-provider/index.ts'
import { startTime, type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { walletOf } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const hour = 3_600_000
/** The hours in which periods begin and end, and attestations are made. */
const hours = 24
const iso = (nth: number) => new Date(startTime + nth * hour).toISOString()
const context = { actor: system }

type Entry = { address: string; from: number; to: number | null }
type Party = { kind: 'LENDER' | 'PROVIDER'; id: string; wallets: Entry[]; history: { status: string; at: number }[] }
type Model = { parties: Party[]; platform: { id: string; wallet: Entry }[] }

const address = fc.integer({ min: 0, max: 3 }).map(walletOf)
const entry = fc
  .record({ address, from: fc.nat(hours - 1), length: fc.option(fc.integer({ min: 1, max: hours })) })
  .map(({ address, from, length }): Entry => ({ address, from, to: length === null ? null : from + length }))
const party = fc.nat(3)
const step = fc.oneof(
  fc.record({ kind: fc.constant('wallets' as const), party, wallets: fc.array(entry, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('status' as const),
    party,
    status: fc.constantFrom('ACTIVE' as const, 'SUSPENDED' as const, 'ARCHIVED' as const),
  }),
  fc.record({ kind: fc.constant('platform' as const), wallet: entry, nth: fc.option(fc.nat(2)) }),
  fc.record({ kind: fc.constant('later' as const), by: fc.integer({ min: 1, max: 5 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

const overlap = (one: Entry, other: Entry) =>
  one.address === other.address && one.from < (other.to ?? Infinity) && other.from < (one.to ?? Infinity)
const bodyOf = ({ address, from, to }: Entry) => ({ address, from: iso(from), to: to === null ? null : iso(to) })
const covers = ({ from, to }: Entry, at: number) => from <= at && at < (to ?? Infinity)

/**
 * An attestation of each schema by each address in each hour, on two chains. Some are revoked, some are of the attester
 * itself.
 */
const allAttestations = [0, 1, 2, 3].flatMap((wallet) =>
  schemaNames.flatMap((schema, schemaAt) =>
    Array.from({ length: hours }, (_, at) => ({
      chainId: 1 + (at % 2),
      uid: `0x${[wallet, schemaAt, at].map((one) => one.toString(16).padStart(2, '0')).join('')}${'0'.repeat(58)}`,
      schema,
      attester: walletOf(wallet),
      isOfSelf: at % 5 === 0,
      blockNumber: at,
      blockAt: startTime + at * hour,
      revokedBlock: at % 7 === 0 ? at + 1 : null,
      isCounted: false,
      isDemo: false,
    })),
  ),
)

/** Computes the expected statistics from every attestation, wallet and moment. */
function expectedCounts({ parties, platform }: Model): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const one of allAttestations) {
    if (one.revokedBlock !== null || (one.schema === 'D' && one.isOfSelf)) continue
    const at = (one.blockAt - startTime) / hour
    const isGranted =
      (attestersOf[one.schema].includes('PLATFORM') &&
        platform.some(({ wallet }) => wallet.address === one.attester && covers(wallet, at))) ||
      parties.some(
        ({ kind, wallets, history }) =>
          attestersOf[one.schema].includes(kind) &&
          wallets.some((wallet) => wallet.address === one.attester && covers(wallet, at)) &&
          history.findLast((entry) => entry.at <= one.blockAt)?.status === 'ACTIVE',
      )
    if (isGranted) sums[`${one.chainId} ${one.schema}`] = (sums[`${one.chainId} ${one.schema}`] ?? 0) + 1
  }
  return sums
}

const storedCounts = async ({ deps }: TestApp) =>
  Object.fromEntries(
    (await deps.db.read.select().from(trustCounts))
      .filter(({ name, value }) => name.startsWith('attestations.') && value !== 0)
      .map(({ name, chainId, value }) => [`${chainId} ${name.at(-1)}`, value] as const),
  )
async function problemsOf({ deps }: TestApp): Promise<string[]> {
  const problems: string[] = []
  for await (const finding of checkTrustFabric(deps.db)) problems.push(...finding.problems)
  return problems
}
/** Inserts the attestations. Every address is known, and none counts yet. */
async function insertAttestations({ deps }: TestApp): Promise<void> {
  await deps.db.write(async (tx) => {
    for (let nth = 0; nth < 4; nth++) await tx.insert(attesterAddresses).values({ address: walletOf(nth), registeredAt: 0 })
    for (let at = 0; at < allAttestations.length; at += 64) await tx.insert(attestations).values(allAttestations.slice(at, at + 64))
  })
}
async function createParties({ deps }: TestApp): Promise<Party[]> {
  const parties: Party[] = []
  for (const kind of ['LENDER', 'LENDER', 'PROVIDER', 'PROVIDER'] as const) {
    const { id, status } =
      kind === 'LENDER'
        ? await createLender(deps, context, { displayName: 'A' })
        : await createProvider(deps, context, { displayName: 'A', archetype: 'generic' })
    parties.push({ kind, id, wallets: [], history: [{ status, at: deps.clock.now() }] })
  }
  return parties
}

const hasSucceeded = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof AppError && ['CONFLICT', 'INVALID'].includes(error.kind)) return false
    throw error
  }
}

/** Applies a step to souk and to the model, and checks that both refuse the same steps. */
async function applyStep({ deps, clock }: TestApp, model: Model, one: Step): Promise<void> {
  const change = (party: Party, fields: object) =>
    party.kind === 'LENDER' ? changeLender(deps, context, party.id, fields) : changeProvider(deps, context, party.id, fields)
  const otherWallets = (excluded: unknown): Entry[] => [
    ...model.parties.filter((party) => party !== excluded).flatMap(({ wallets }) => wallets),
    ...model.platform.filter((wallet) => wallet !== excluded).map(({ wallet }) => wallet),
  ]
  if (one.kind === 'later') return clock.advance(one.by * hour)
  if (one.kind === 'wallets') {
    const party = model.parties[one.party] as Party
    const isConsistent = one.wallets.every((wallet, nth) => one.wallets.every((other, at) => at === nth || !overlap(wallet, other)))
    const isFree = one.wallets.every((wallet) => otherWallets(party).every((other) => !overlap(wallet, other)))
    expect(await hasSucceeded(() => change(party, { wallets: one.wallets.map(bodyOf) }))).toBe(isConsistent && isFree)
    if (isConsistent && isFree) party.wallets = one.wallets
  } else if (one.kind === 'status') {
    const party = model.parties[one.party] as Party
    if ((await hasSucceeded(() => change(party, { status: one.status }))) && party.history.at(-1)?.status !== one.status)
      party.history.push({ status: one.status, at: clock.now() })
  } else {
    const existing = one.nth === null ? undefined : model.platform[one.nth]
    const isFree = otherWallets(existing).every((other) => !overlap(one.wallet, other))
    if (existing) {
      expect(await hasSucceeded(() => changePlatformWallet(deps, context, existing.id, bodyOf(one.wallet)))).toBe(isFree)
      if (isFree) existing.wallet = one.wallet
      return
    }
    let id = ''
    const create = async () => {
      id = (await createPlatformWallet(deps, context, bodyOf(one.wallet))).id
    }
    expect(await hasSucceeded(create)).toBe(isFree)
    if (isFree) model.platform.push({ id, wallet: one.wallet })
  }
}

test('after any changes of wallets and statuses the counts equal a recount of all attestations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using app = await testApp()
      await insertAttestations(app)
      const model: Model = { parties: await createParties(app), platform: [] }
      for (const one of steps) {
        await applyStep(app, model, one)
        expect(await storedCounts(app)).toEqual(expectedCounts(model))
      }
      expect(await problemsOf(app)).toEqual([])
    }),
    { numRuns: 6 },
  )
})

test('of many concurrent registrations of one address one succeeds, and the others get a conflict', async () => {
  await using app = await testApp()
  const { deps } = app
  await insertAttestations(app)
  const parties = await createParties(app)
  const wallets = [bodyOf({ address: walletOf(0), from: 0, to: null })]
  const tries = [
    ...parties.map(
      ({ kind, id }) =>
        () =>
          kind === 'LENDER' ? changeLender(deps, context, id, { wallets }) : changeProvider(deps, context, id, { wallets }),
    ),
    () => createPlatformWallet(deps, context, wallets[0] as ReturnType<typeof bodyOf>),
  ]
  const outcomes = await Promise.all(tries.map(hasSucceeded))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
  expect(await problemsOf(app)).toEqual([])
})

test('concurrent changes of statuses and wallets count like consecutive ones', async () => {
  await using app = await testApp()
  const { deps } = app
  await insertAttestations(app)
  const parties = await createParties(app)
  for (let round = 0; round < 4; round++) {
    await Promise.all(
      parties.flatMap(({ kind, id }, nth) => {
        const change = (fields: object) =>
          kind === 'LENDER' ? changeLender(deps, context, id, fields) : changeProvider(deps, context, id, fields)
        // Two parties share an address, one after the other.
        const wallet = { address: walletOf(nth % 2), from: nth < 2 ? 0 : 6, to: nth < 2 ? 6 : null }
        return [
          hasSucceeded(() => change({ wallets: round % 2 ? [] : [bodyOf(wallet)] })),
          hasSucceeded(() => change({ status: round % 2 ? 'SUSPENDED' : 'ACTIVE' })),
        ]
      }),
    )
    app.clock.advance(hour)
    expect(await problemsOf(app)).toEqual([])
  }
})

test('an address with more attestations than one statement handles is recounted completely', async () => {
  await using app = await testApp()
  const { deps } = app
  const wallet = bodyOf({ address: walletOf(1), from: 0, to: null })
  const { id } = await createLender(deps, context, { displayName: 'A', wallets: [wallet] })
  await changeLender(deps, context, id, { status: 'ACTIVE' })
  await changeLender(deps, context, id, { wallets: [] })
  // On two chains, with more attestations of one moment than a statement handles.
  const many = 44_000
  await deps.db.write((tx) =>
    tx.rows(sql`
      insert into attestations (chain_id, uid, schema, attester, is_of_self, block_number, block_at, is_counted, is_demo)
      with recursive n (i) as (select 0 union all select i + 1 from n where i < ${many - 1})
      select 1 + i % 2, '0x' || i, 'B', cast(${walletOf(1)} as text), false, i, cast(${startTime} as bigint) + case when i between 10000 and 35000 then 10000 else i end, false, false
      from n returning 1 as done`),
  )
  const counted = async () =>
    (await deps.db.read.select().from(trustCounts)).filter(({ name }) => name === 'attestations.B').map(({ value }) => value)
  await changeLender(deps, context, id, { wallets: [wallet] })
  expect(await counted()).toEqual([many / 2, many / 2])
  expect(await problemsOf(app)).toEqual([])
  await changeLender(deps, context, id, { wallets: [] })
  expect(await counted()).toEqual([0, 0])
  expect(await problemsOf(app)).toEqual([])
})

test('past blocks are read again only for an address that is new or begins earlier', async () => {
  await using app = await testApp()
  const { deps } = app
  const chain = (chainId: number, countedToAt: number | null) => ({
    chainId,
    contract: walletOf(99),
    startBlock: 1,
    countedTo: 9,
    countedToAt,
  })
  await deps.db.write((tx) => tx.insert(chainSyncs).values([chain(1, startTime + 10 * hour), chain(2, startTime), chain(3, null)]))
  const queued = async () =>
    (await deps.db.read.select().from(chainBackfills).orderBy(chainBackfills.id)).map(({ chainId, address, fromAt }) => [
      chainId,
      address,
      (fromAt - startTime) / hour,
    ])
  const { id } = await createLender(deps, context, { displayName: 'A', wallets: [bodyOf({ address: walletOf(1), from: 5, to: null })] })
  // The second chain was not read up to that time, and the third not at all.
  expect(await queued()).toEqual([[1, walletOf(1), 5]])
  await changeLender(deps, context, id, { status: 'ACTIVE' })
  await changeLender(deps, context, id, { wallets: [bodyOf({ address: walletOf(1), from: 5, to: 8 })] })
  await changeLender(deps, context, id, { wallets: [bodyOf({ address: walletOf(1), from: 6, to: 8 })] })
  expect(await queued()).toHaveLength(1)
  await changeLender(deps, context, id, { wallets: [bodyOf({ address: walletOf(1), from: -2, to: 8 })] })
  expect((await queued()).slice(1).sort()).toEqual([
    [1, walletOf(1), -2],
    [2, walletOf(1), -2],
  ])
})

test('a check names wrong counts, attestations, grants and addresses', async () => {
  await using app = await testApp()
  const { deps } = app
  await createPlatformWallet(deps, context, bodyOf({ address: walletOf(1), from: 0, to: null }))
  expect(await problemsOf(app)).toEqual([])
  const [first] = allAttestations
  await deps.db.write(async (tx) => {
    await tx.insert(attestations).values({ ...(first as (typeof allAttestations)[number]), isCounted: true })
    await tx.update(trustCounts).set({ value: 7 })
    await tx.update(grants).set({ toAt: startTime + hour })
  })
  const problems = await problemsOf(app)
  expect(problems.filter((one) => one.includes('stored'))).toHaveLength(3)
  for (const part of ['is counted though it should not be', 'and is not a registered address', 'differ from its wallets'])
    expect(problems.filter((one) => one.includes(part))).toHaveLength(1)
})
