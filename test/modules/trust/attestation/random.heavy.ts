import { setDefaultTimeout, test } from 'bun:test'
import { beginRescans } from '../../../../src/modules/trust/attestation/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { type Fault, faults, startProxy } from '../../../support/chain/proxy.ts'
import { allGrants, type ChainInstance, openChainInstance, schemaLetters, wallets } from '../../../support/chain/syncing.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** `FUZZ_SEED=… FUZZ_RUNS=…` selects another seed and more runs. */
const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_261_122)
const runs = Number(Bun.env['FUZZ_RUNS'] ?? 1)
const actsMax = 60
/** Confirmations of the first chain, whose blocks are replaced. The other chain is final. */
const confirmations = 2

/** Creates a pseudo-random generator of numbers from 0 to 1 (mulberry32). */
function createRandom(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const kinds: readonly (() => Fault)[] = [
  () => faults.limited(),
  () => faults.limited('3'),
  faults.limitedInside,
  faults.badGateway,
  faults.garbage,
  faults.mixedIds,
  faults.shortBatch,
  faults.removed,
  faults.otherAddress,
  faults.otherHash,
  faults.shortData,
  faults.twice,
  faults.wrongChain,
  faults.reversed,
]

/** Plays random actions. Their names are printed after a failure. */
async function play(from: number): Promise<void> {
  const random = createRandom(from)
  const randomBelow = (end: number) => Math.floor(random() * end)
  const oneOf = <T>(all: readonly T[]): T => all[randomBelow(all.length)] as T
  await using one = await startChain({ chainId: 1_001 })
  await using other = await startChain({ chainId: 1_002 })
  await using first = startProxy(one.url)
  await using second = startProxy(one.url)
  await using third = startProxy(other.url)
  const proxies = [first, second, third]
  const chains = [
    { chain: one, urls: [first.url, second.url], confirmations },
    { chain: other, urls: [third.url] },
  ]
  const database = await testDatabase()
  let souk: ChainInstance = await openChainInstance(chains, { app: { database } })
  await souk.grant(allGrants)
  const attesters = [...Object.values(wallets), ...Array.from({ length: 5 }, (_, nth) => `0x${String(nth + 1).repeat(40)}` as const)]
  const unregistered = attesters.slice(-5)
  const alive = new Map<Chain, `0x${string}`[]>([
    [one, []],
    [other, []],
  ])
  let fork: { snapshot: `0x${string}`; alive: `0x${string}`[] } | undefined
  const playedActs: string[] = []

  const attest = async (chain: Chain) => {
    const uids = await chain.attest(
      Array.from({ length: 1 + randomBelow(5) }, () => {
        const attester = oneOf(attesters)
        return { schema: oneOf(schemaLetters), attester, recipient: oneOf([attester, ...attesters]) }
      }),
    )
    alive.get(chain)?.push(...uids)
  }
  const acts: Record<string, () => Promise<unknown>> = {
    attest: () => attest(oneOf([one, other])),
    attestMore: () => attest(one),
    async revoke() {
      const chain = oneOf([one, other])
      const uids = alive.get(chain) ?? []
      const uid = uids.splice(randomBelow(uids.length), 1)
      await chain.revoke(uid)
    },
    mine: () => oneOf([one, other]).mine(1 + randomBelow(6), 1 + randomBelow(30)),
    async remember() {
      fork = { snapshot: await one.snapshot(), alive: [...(alive.get(one) ?? [])] }
    },
    async replace() {
      if (!fork) return
      await one.revert(fork.snapshot)
      alive.set(one, fork.alive)
      fork = undefined
      // Without other blocks, the chain would create the replaced ones again.
      await one.mine(1, 2 + randomBelow(50))
    },
    spoil: async () => oneOf(proxies).spoil(...Array.from({ length: 1 + randomBelow(3) }, () => oneOf(kinds)())),
    async lag() {
      const { countedTo } = await souk.sync(1_001).catch(() => ({ countedTo: 0 }))
      oneOf([first, second]).spoil(...Array.from({ length: 3 }, () => faults.lagging(countedTo - 1 + randomBelow(4))))
    },
    cap: async () =>
      oneOf(proxies).always(oneOf([undefined, faults.cappedAt(1 + randomBelow(5)), faults.cappedAt(3, 'limited to 3 blocks')])),
    step: () => souk.step(),
    stepMore: () => souk.step(),
    wait: async () => souk.app.clock.advance(randomBelow(40_000)),
    async register() {
      const address = unregistered.pop()
      if (!address) return
      const fromAt = randomBelow(2) * (await one.block(1 + randomBelow((await one.block()).number))).at * 1_000
      await souk.grant(
        schemaLetters.map((schema) => ({ address, schema, fromAt, toAt: null })),
        { queue: true },
      )
    },
    rescan: () => beginRescans(souk.deps, 0),
    async restart() {
      const { granted, app } = souk
      await app.abandon()
      souk = await openChainInstance(chains, { app: { database, startAt: app.clock.now() + 60_000 } })
      souk.granted.push(...granted)
    },
  }
  const settle = async () => {
    for (const proxy of proxies) proxy.forget()
    // This is longer than every pause of a node.
    souk.app.clock.advance(3_600_000)
    // Makes the chain longer than the cursor, because a shorter chain is not read.
    const { countedTo } = await souk.sync(1_001).catch(() => ({ countedTo: 0 }))
    await one.mine(Math.max(0, countedTo - (await one.block()).number) + confirmations + 3)
    await other.mine(3)
    await souk.run({ most: 200 })
    await souk.expectTruth(one)
    await souk.expectTruth(other)
  }
  try {
    for (let turn = 0; turn < actsMax; turn++) {
      const act = oneOf(Object.keys(acts))
      playedActs.push(act)
      await acts[act]?.()
      if (turn % 15 === 14) await settle()
    }
    await settle()
    const { rescanMissing, rescanUnknown } = await souk.sync(1_002)
    if (rescanMissing || rescanUnknown) throw new Error(`a rescan found differences that do not exist: ${rescanMissing}, ${rescanUnknown}`)
  } catch (error) {
    process.stderr.write(`FUZZ_SEED=${from}, after ${playedActs.join(' ')}\n`)
    throw error
  } finally {
    await souk.app.abandon()
    await database.drop()
  }
}

describeChain('the sync of attestations with random actions', () => {
  test('after any behaviour of nodes, chains, registries and processes the counts match the contract', async () => {
    for (let nth = 0; nth < runs; nth++) await play(seed + nth)
  })
})
