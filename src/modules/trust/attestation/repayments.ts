/** Repayments that lenders attest: recorded once each, and reversed when they count no more. */

import { NodeError } from '../../../core/chain.ts'
import { locking, system } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { breachOf, type Draft, outcomes } from '../../lending/repayment/domain.ts'
import { type RepaymentDeps, recordAll, reverseRepayment } from '../../lending/repayment/index.ts'
import { covers } from '../fabric/domain.ts'
import type { Attestation, ChainSync } from './domain.ts'
import type { KnownNode } from './nodes.ts'
import { ask, type Reading, refused, type SyncDeps } from './rpc-reader.ts'

type Deps = SyncDeps & RepaymentDeps
type Statement = { merchantRef: string; loanRef: string; outcome: number; amountUsdCents: bigint; dueAt: bigint; settledAt: bigint }

/** Asked of a node at once, and recorded in one write. */
const atOnce = 50
const merchantsAtOnce = 1_000
/** Sorts behind all hex. */
const behindAllUids = 'g'
const reason = 'The attestation of it was revoked, or counts no more'

/** Looks at what the sync has counted since the last time, of every chain that is read as far as may be, where the setting says so. */
export async function recordAttestedRepayments(deps: Deps): Promise<void> {
  if (!deps.config.lendingRepaymentsFromAttestations) return
  for (const chain of deps.config.chains) {
    if (deps.life.stopping) return
    const nodes = deps.chainNodes.get(chain.chainId)
    const sync = await deps.attestationStore.find(chain.chainId)
    if (!nodes || !sync || sync.haltedBecause !== null || sync.countedToHash === null) continue
    // What was taken back, and is still to be read again, is not gone.
    if (sync.countedTo >= (sync.target ?? 0)) await lookAt(deps, { chain, nodes, sync }, sync.countedToHash)
  }
}

/**
 * From the last look on where the chain and the registry are as they were then, and nothing was read of older blocks since; else at all
 * there is.
 */
async function lookAt(deps: Deps, reading: Reading, hash: string): Promise<void> {
  const { attestationStore, attestedRepaymentStore: store, attestedTo } = deps
  const { chainId, countedTo, rescannedAt, rescanMissing } = reading.sync
  const generation = await attestationStore.generation()
  const backfills = await attestationStore.backfills(chainId)
  const basis = [generation, rescannedAt, rescanMissing].join()
  const last = attestedTo.get(chainId)
  const goesOn = last?.basis === basis && (await store.stands(chainId, last.block, last.hash))
  await reverseGone(deps, chainId, goesOn ? last.block : undefined)
  const merchants = merchantsOfLook(deps)
  let from = countedTo
  let after = { blockNumber: goesOn ? last.from : -1, uid: behindAllUids }
  for (;;) {
    const unseen = await store.unseen(chainId, after, countedTo, atOnce)
    const absent = unseen.length === 0 ? [] : await recordSome(deps, reading, unseen, merchants)
    if (!absent) return
    // They are asked for again with the next look, and keep nobody else out.
    for (const { blockNumber } of absent) from = Math.min(from, blockNumber - 1)
    const end = unseen.at(-1)
    if (!end || unseen.length < atOnce) break
    after = end
  }
  if (backfills.length === 0) attestedTo.set(chainId, { block: countedTo, hash, basis, from })
  else attestedTo.delete(chainId)
}

async function reverseGone(deps: Deps, chainId: number, revokedAfter: number | undefined): Promise<void> {
  for (;;) {
    const gone = await deps.attestedRepaymentStore.gone(chainId, revokedAfter, atOnce)
    for (const { uid, repaymentId } of gone) {
      await reverseRepayment(deps, { actor: system }, repaymentId, reason).catch((error: unknown) => {
        // An operator was first, or a process that was stopped before it could say so.
        if (!(error instanceof AppError && error.code === 'CONFLICT')) throw error
      })
      await deps.db.write((tx) => deps.attestedRepaymentStore.remove(tx, chainId, uid), locking)
      deps.attestedCounts.add(`${chainId} reversed`)
    }
    if (gone.length < atOnce) return
  }
}

/** @returns those that the node does not have; undefined where no node could say what they hold, or the chain has become another meanwhile */
async function recordSome(
  deps: Deps,
  reading: Reading,
  unseen: readonly Attestation[],
  merchantsOf: MerchantsOf,
): Promise<readonly Attestation[] | undefined> {
  const { attestationStore, attestedRepaymentStore: store, clock } = deps
  const { chain, nodes, sync } = reading
  const node = nodes.next()
  const said = node && (await statementsOf(deps, reading, node, chain, unseen))
  if (!said) return undefined
  const merchants = await merchantsOf([...said.values()].flatMap((statement) => (statement ? [statement.merchantRef] : [])))
  const wallets = await store.lenderWallets([...new Set(unseen.map(({ attester }) => attester))])
  const drafts = unseen.flatMap((attestation): { uid: string; draft: Draft }[] => {
    const { uid, attester, blockAt } = attestation
    const lenderId = wallets.find((wallet) => wallet.address === attester && covers(wallet, blockAt))?.ownerId
    const draft = draftOf(said.get(uid), lenderId ?? undefined, merchants)
    return draft && !breachOf(draft, clock.now()) ? [{ uid, draft }] : []
  })
  let told: string[] = []
  let isStanding = false
  await deps.db.write(async (tx) => {
    told = []
    isStanding = false
    const now = await attestationStore.locked(tx, chain.chainId)
    // Taken back meanwhile: it is looked at anew.
    if (!now || !(await isStill(now, sync, store))) return
    isStanding = true
    const counted = await store.stillCounted(
      tx,
      chain.chainId,
      unseen.map(({ uid }) => uid),
    )
    const sure = drafts.filter(({ uid }) => counted.has(uid))
    const results = await recordAll(tx, deps, { actor: system, source: 'ATTESTATION', drafts: sure.map(({ draft }) => draft) })
    const ids = new Map(sure.map(({ uid }, nth) => [uid, results[nth]] as const))
    for (const uid of counted) {
      if (!said.has(uid)) continue
      const result = ids.get(uid)
      const repaymentId = result?.kind === 'RECORDED' ? result.repayment.id : null
      told.push(`${chain.chainId} ${repaymentId === null ? 'left' : 'recorded'}`)
      await store.insert(tx, { chainId: chain.chainId, uid, repaymentId, at: clock.now() })
    }
  }, locking)
  for (const words of told) deps.attestedCounts.add(words)
  return isStanding ? unseen.filter(({ uid }) => !said.has(uid)) : undefined
}

const isStill = async (now: ChainSync, before: ChainSync, store: Deps['attestedRepaymentStore']): Promise<boolean> =>
  now.countedToHash === before.countedToHash ||
  (before.countedToHash !== null && (await store.stands(before.chainId, before.countedTo, before.countedToHash)))

/** What attestations say, by uid, of those that the node has; undefined where it failed. */
async function statementsOf(
  deps: Deps,
  reading: Reading,
  node: KnownNode,
  { contract }: ChainSetting,
  unseen: readonly Attestation[],
): Promise<Map<string, Statement | undefined> | undefined> {
  const eas = await deps.eas()
  const calls = unseen.map(({ uid }) => ({ to: contract, data: eas.callOf(uid) }))
  const answer = await ask(deps, reading, node, { blocks: [], calls })
  if (!answer) return undefined
  const statements = new Map<string, Statement | undefined>()
  for (const [nth, { uid }] of unseen.entries()) {
    const found = eas.repaymentIn(answer.results[nth] ?? '0x', uid)
    if (found === 'FORGED') {
      await refused(deps, reading, node, new NodeError('FAULT', 'it answered an attestation that is not what its uid is the hash of'))
      return undefined
    }
    if (found !== 'ABSENT') statements.set(uid, found === 'NOTHING' ? undefined : found)
  }
  return statements
}

type MerchantsOf = (refs: readonly string[]) => Promise<ReadonlyMap<string, string>>

/**
 * Merchants by the hash of their id, for one look: all ids are read once in it at most, and only for a ref that nobody is known by. Whoever is named
 * in a block that the look is about was there before it began; and as merchants are never removed, those that are known need not be hashed again.
 */
function merchantsOfLook(deps: Deps): MerchantsOf {
  const { byRef } = deps.knownMerchants
  let isRead = false
  return async (refs) => {
    if (!isRead && refs.some((ref) => !byRef.has(ref))) {
      await readMerchants(deps)
      isRead = true
    }
    return byRef
  }
}

async function readMerchants(deps: Deps): Promise<void> {
  const { attestedRepaymentStore: store, knownMerchants } = deps
  const { refOf } = await deps.eas()
  const paced = await deps.pace.enter()
  try {
    for (let after = ''; ; ) {
      const ids = await store.merchantIds(after, merchantsAtOnce)
      for (const id of ids) {
        if (knownMerchants.ids.has(id)) continue
        knownMerchants.ids.add(id)
        knownMerchants.byRef.set(refOf(id), id)
      }
      await paced.rest()
      if (ids.length < merchantsAtOnce) return
      after = ids.at(-1) ?? after
    }
  } finally {
    paced.leave()
  }
}

/** What is recorded of a statement; undefined where it fits no merchant and no lender, or says what cannot be recorded. */
function draftOf(said: Statement | undefined, lenderId: string | undefined, merchants: ReadonlyMap<string, string>): Draft | undefined {
  const merchantId = said && merchants.get(said.merchantRef)
  const outcome = said && outcomes[said.outcome]
  const [amountUsd, dueAt, settledAt] = [Number(said?.amountUsdCents), Number(said?.dueAt) * 1_000, Number(said?.settledAt) * 1_000]
  if (!said || !merchantId || !lenderId || !outcome) return undefined
  if (![amountUsd, dueAt, settledAt].every(Number.isSafeInteger)) return undefined
  return { merchantId, lenderId, loanRef: said.loanRef, outcome, amountUsd, dueAt, settledAt: settledAt === 0 ? null : settledAt }
}
