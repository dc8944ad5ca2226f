import { setDefaultTimeout, test } from 'bun:test'
import { beginRescans } from '../../../../src/modules/trust/attestation/index.ts'
import { describeChain } from '../../../support/chain/anvil.ts'
import { type Chain, startChain } from '../../../support/chain/eas.ts'
import { type Fault, faults, startProxy } from '../../../support/chain/proxy.ts'
import { everybody, names, type Syncing, syncing, wallets } from '../../../support/chain/syncing.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** `FUZZ_SEED=… FUZZ_RUNS=…` tries others, and more. */
const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_261_122)
const runs = Number(Bun.env['FUZZ_RUNS'] ?? 1)
const turns = 60
/** Of two chains: one of which blocks are replaced, and one that is final. */
const byDepth = 2

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(from: number): () => number {
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

/** What the test does next, by name, so that a failure can be read. */
async function play(from: number): Promise<void> {
  const random = randomOf(from)
  const below = (end: number) => Math.floor(random() * end)
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T
  await using one = await startChain({ chainId: 1_001 })
  await using other = await startChain({ chainId: 1_002 })
  await using first = startProxy(one.url)
  await using second = startProxy(one.url)
  await using third = startProxy(other.url)
  const proxies = [first, second, third]
  const chains = [
    { chain: one, urls: [first.url, second.url], confirmations: byDepth },
    { chain: other, urls: [third.url] },
  ]
  const database = await testDatabase()
  let souk: Syncing = await syncing(chains, { app: { database } })
  await souk.grant(everybody)
  const attesters = [...Object.values(wallets), ...Array.from({ length: 5 }, (_, nth) => `0x${String(nth + 1).repeat(40)}` as const)]
  const unregistered = attesters.slice(-5)
  const alive = new Map<Chain, `0x${string}`[]>([
    [one, []],
    [other, []],
  ])
  let fork: { snapshot: `0x${string}`; alive: `0x${string}`[] } | undefined
  const done: string[] = []

  const attest = async (chain: Chain) => {
    const made = await chain.attest(
      Array.from({ length: 1 + below(5) }, () => {
        const attester = oneOf(attesters)
        return { schema: oneOf(names), attester, recipient: oneOf([attester, ...attesters]) }
      }),
    )
    alive.get(chain)?.push(...made)
  }
  const acts: Record<string, () => Promise<unknown>> = {
    attest: () => attest(oneOf([one, other])),
    attestMore: () => attest(one),
    async revoke() {
      const chain = oneOf([one, other])
      const uids = alive.get(chain) ?? []
      const uid = uids.splice(below(uids.length), 1)
      await chain.revoke(uid)
    },
    mine: () => oneOf([one, other]).mine(1 + below(6), 1 + below(30)),
    async remember() {
      fork = { snapshot: await one.snapshot(), alive: [...(alive.get(one) ?? [])] }
    },
    async replace() {
      if (!fork) return
      await one.revert(fork.snapshot)
      alive.set(one, fork.alive)
      fork = undefined
      // Else the same blocks would come again.
      await one.mine(1, 2 + below(50))
    },
    spoil: async () => oneOf(proxies).spoil(...Array.from({ length: 1 + below(3) }, () => oneOf(kinds)())),
    async lag() {
      const { countedTo } = await souk.sync(1_001).catch(() => ({ countedTo: 0 }))
      oneOf([first, second]).spoil(...Array.from({ length: 3 }, () => faults.lagging(countedTo - 1 + below(4))))
    },
    cap: async () => oneOf(proxies).always(oneOf([undefined, faults.cappedAt(1 + below(5)), faults.cappedAt(3, 'limited to 3 blocks')])),
    step: () => souk.step(),
    stepMore: () => souk.step(),
    wait: async () => souk.app.clock.advance(below(40_000)),
    async register() {
      const address = unregistered.pop()
      if (!address) return
      const fromAt = below(2) * (await one.block(1 + below((await one.block()).number))).at * 1_000
      await souk.grant(
        names.map((schema) => ({ address, schema, fromAt, toAt: null })),
        { queue: true },
      )
    },
    rescan: () => beginRescans(souk.deps, 0),
    async restart() {
      const { granted, app } = souk
      await app.abandon()
      souk = await syncing(chains, { app: { database, startAt: app.clock.now() + 60_000 } })
      souk.granted.push(...granted)
    },
  }
  const settle = async () => {
    for (const proxy of proxies) proxy.forget()
    // Long enough for every pause there is.
    souk.app.clock.advance(3_600_000)
    // One that is shorter than what is counted says nothing until it is as long again.
    const { countedTo } = await souk.sync(1_001).catch(() => ({ countedTo: 0 }))
    await one.mine(Math.max(0, countedTo - (await one.block()).number) + byDepth + 3)
    await other.mine(3)
    await souk.run({ most: 200 })
    await souk.expectTruth(one)
    await souk.expectTruth(other)
  }
  try {
    for (let turn = 0; turn < turns; turn++) {
      const act = oneOf(Object.keys(acts))
      done.push(act)
      await acts[act]?.()
      if (turn % 15 === 14) await settle()
    }
    await settle()
    const { rescanMissing, rescanUnknown } = await souk.sync(1_002)
    if (rescanMissing || rescanUnknown) throw new Error(`a rescan found what was never left out: ${rescanMissing}, ${rescanUnknown}`)
  } catch (error) {
    process.stderr.write(`FUZZ_SEED=${from}, after ${done.join(' ')}\n`)
    throw error
  } finally {
    await souk.app.abandon()
    await database.drop()
  }
}

describeChain('the sync of attestations, by chance', () => {
  test('after any behaviour of nodes, chains, registries and processes the counts match the contract', async () => {
    for (let nth = 0; nth < runs; nth++) await play(seed + nth)
  })
})
