/** An instance that reads chains of the test, and the comparison of its counts with the contract. */
import { expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import { attestations, attesterAddresses, chainBackfills, chainSyncs, grants, trustCounts } from '../../../db/schema/trust.ts'
import { type Step, syncChains } from '../../../src/modules/trust/attestation/index.ts'
import { type TestApp, type TestAppOptions, testApp } from '../app.ts'
import type { Chain, Counts, Grant } from './eas.ts'

export const schemaLetters = ['A', 'B', 'C', 'D'] as const
export const wallets = {
  platform: '0x00000000000000000000000000000000000000a1',
  lender: '0x00000000000000000000000000000000000000b2',
  provider: '0x00000000000000000000000000000000000000d4',
  stranger: '0x00000000000000000000000000000000000000e5',
} as const

type ChainOf = { chain: Pick<Chain, 'chainId' | 'contract' | 'startBlock'>; urls: readonly string[]; confirmations?: number }
type Options = { settings?: Record<string, string>; app?: TestAppOptions }

export type ChainInstance = Awaited<ReturnType<typeof openChainInstance>>

export const chainsSetting = (chains: readonly ChainOf[]): string =>
  JSON.stringify(
    chains.map(({ chain: { chainId, contract, startBlock }, urls, confirmations }) => ({
      chainId,
      rpc: urls,
      contract,
      startBlock,
      ...(confirmations === undefined ? {} : { confirmations }),
    })),
  )

/** Unlimited grants for all wallets except the stranger's, for all schemas that each may attest. */
export const allGrants: readonly Grant[] = [
  { address: wallets.platform, schema: 'A', fromAt: 0, toAt: null },
  { address: wallets.platform, schema: 'C', fromAt: 0, toAt: null },
  { address: wallets.lender, schema: 'B', fromAt: 0, toAt: null },
  { address: wallets.lender, schema: 'C', fromAt: 0, toAt: null },
  { address: wallets.provider, schema: 'D', fromAt: 0, toAt: null },
]

export async function openChainInstance(chains: readonly ChainOf[], { settings = {}, app: options }: Options = {}) {
  const app = await testApp({ CHAINS: chainsSetting(chains), ...settings }, options)
  return { ...instanceOf(app), [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

function instanceOf(app: TestApp) {
  const { deps } = app
  const granted: Grant[] = []

  return {
    app,
    deps,
    granted,
    /** Adds grants, as a change of the registry does. @param queue whether older blocks are read again */
    async grant(some: readonly Grant[], { queue = false } = {}): Promise<void> {
      granted.push(...some)
      await deps.db.write(async (tx) => {
        await tx.rows(sql`update trust_registry set generation = generation + 1 where id = 1 returning 1 as done`)
        for (const grant of some) {
          await tx.insert(grants).values(grant)
          await tx.insert(attesterAddresses).values({ address: grant.address, registeredAt: 0 }).onConflictDoNothing()
        }
        const read = queue ? await tx.select({ chainId: chainSyncs.chainId }).from(chainSyncs) : []
        for (const { chainId } of read)
          for (const address of new Set(some.map((grant) => grant.address)))
            await tx
              .insert(chainBackfills)
              .values({
                id: deps.newId('backfill'),
                chainId,
                address,
                fromAt: Math.min(...some.map(({ fromAt }) => fromAt)),
                queuedAt: 0,
                readTo: null,
                lastBlock: null,
              })
              .onConflictDoNothing()
      })
    },
    /** Runs the job until no chain waits, and returns the steps. Advances the clock over waiting times. */
    async run({ chainId, most = 60 }: { chainId?: number; most?: number } = {}): Promise<Step[]> {
      const steps: Step[] = []
      for (let nth = 0; nth < most; nth++) {
        const last = await syncChains(deps, { ...(chainId === undefined ? {} : { chainId }), onStep: (step) => void steps.push(step) })
        const waits = [...last.values()].flatMap((step) => (step.kind === 'WAITING' ? [step.until] : []))
        if (waits.length === 0) return steps
        app.clock.advance(Math.max(1, Math.min(...waits) - app.clock.now()))
      }
      throw new Error(`the job does not stop waiting: ${JSON.stringify(steps.slice(-3))}`)
    },
    /** Runs a single step. */
    async step(chainId?: number): Promise<Step> {
      const last = await syncChains(deps, { maxMs: 0, ...(chainId === undefined ? {} : { chainId }) })
      return [...last.values()][0] as Step
    },
    async counts(chainId: number): Promise<Counts> {
      const rows = await deps.db.read.select().from(trustCounts)
      const counts: Counts = { A: 0, B: 0, C: 0, D: 0 }
      for (const { name, chainId: of, value } of rows)
        for (const schema of schemaLetters) if (of === chainId && name === `attestations.${schema}`) counts[schema] = value
      return counts
    },
    rows: (chainId: number) => deps.db.read.select().from(attestations).where(sql`chain_id = ${chainId}`),
    async sync(chainId: number): Promise<typeof chainSyncs.$inferSelect> {
      const row = await deps.attestationStore.find(chainId)
      if (!row) throw new Error('nothing was read of that chain')
      return row
    },
    backfills: () => deps.db.read.select().from(chainBackfills),
    /** Compares the counts with the contract's attestations, at the block up to which the instance counted. */
    async expectTruth(chain: Chain): Promise<void> {
      const { countedTo } = await this.sync(chain.chainId)
      const truth = await chain.countsOfChain(granted, countedTo)
      expect(await this.counts(chain.chainId)).toEqual(truth)
      const rows = await this.rows(chain.chainId)
      const counted: Counts = { A: 0, B: 0, C: 0, D: 0 }
      for (const { schema, isCounted } of rows) if (isCounted) counted[schema]++
      expect(counted).toEqual(truth)
    },
  }
}
