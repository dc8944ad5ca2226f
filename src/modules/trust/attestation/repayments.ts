/** Records the repayments that lenders attest, once each, and reverses those that no longer count. */

import { NodeError } from '../../../core/chain.ts'
import { locking, system } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { outcomes, type RepaymentDraft, violationOf } from '../../lending/repayment/domain.ts'
import { type RepaymentDeps, recordRepayments, reverseRepayment } from '../../lending/repayment/index.ts'
import { covers } from '../fabric/domain.ts'
import { walletsAt } from '../fabric/index.ts'
import type { Attestation } from './domain.ts'
import { ask, type ChainReading, endForFailure, type NodeReading, type SyncDeps, undefinedIfEnded } from './rpc-reader.ts'

type Deps = SyncDeps & RepaymentDeps
type Statement = { merchantRef: string; loanRef: string; outcome: number; amountUsdCents: bigint; dueAt: bigint; settledAt: bigint }

/** Attestations per query and per write. */
const batchSize = 50
const merchantsBatch = 1_000
/** Sorts after every hexadecimal uid. */
const afterAllUids = 'g'
const reason = 'Its attestation was revoked or no longer counts'

/**
 * Processes new attested repayments of every chain that is fully read. Runs only if
 * LENDING_REPAYMENTS_FROM_ATTESTATIONS is set.
 */
export async function recordAttestedRepayments(deps: Deps): Promise<void> {
  if (!deps.config.lendingRepaymentsFromAttestations) return
  for (const chain of deps.config.chains) {
    if (deps.life.stopping) return
    const nodes = deps.chainNodes.get(chain.chainId)
    const sync = await deps.attestationStore.find(chain.chainId)
    if (!nodes || !sync || sync.haltedBecause !== null || sync.countedToHash === null) continue
    // Rewound blocks that are not read again yet are not missing.
    if (sync.countedTo >= (sync.target ?? 0)) await processChain(deps, { chain, nodes, sync }, sync.countedToHash)
  }
}

/**
 * Continues after the last position if chain, registry and older blocks are unchanged; otherwise starts from the
 * beginning.
 */
async function processChain(deps: Deps, reading: ChainReading, hash: string): Promise<void> {
  const { attestationStore, attestedRepaymentStore: store, attestedTo } = deps
  const { chainId, countedTo, rescannedAt, rescanMissing } = reading.sync
  const generation = await attestationStore.generation()
  const backfills = await attestationStore.backfills(chainId)
  const basis = [generation, rescannedAt, rescanMissing].join()
  const last = attestedTo.get(chainId)
  const isContinuation = last?.basis === basis && (await isCheckpoint(deps, chainId, last.block, last.hash))
  await reverseNoLongerCounted(deps, chainId, isContinuation ? last.block : undefined)
  const lookup = { isRead: false }
  let from = countedTo
  let after = { blockNumber: isContinuation ? last.from : -1, uid: afterAllUids }
  for (;;) {
    const unprocessed = await store.listUnprocessed(chainId, after, countedTo, batchSize)
    const absent = unprocessed.length === 0 ? [] : await recordBatch(deps, reading, unprocessed, lookup)
    if (!absent) return
    // Attestations that no node returned are retried in the next run and do not block the others.
    for (const { blockNumber } of absent) from = Math.min(from, blockNumber - 1)
    const end = unprocessed.at(-1)
    if (!end || unprocessed.length < batchSize) break
    after = end
  }
  if (backfills.length === 0) attestedTo.set(chainId, { block: countedTo, hash, basis, from })
  else attestedTo.delete(chainId)
}

async function reverseNoLongerCounted(deps: Deps, chainId: number, revokedAfter: number | undefined): Promise<void> {
  for (;;) {
    const rows = await deps.attestedRepaymentStore.listNoLongerCounted(chainId, revokedAfter, batchSize)
    for (const { uid, repaymentId } of rows) {
      await reverseRepayment(deps, { actor: system }, repaymentId, reason).catch((error: unknown) => {
        // An operator reversed it first, or a process stopped before it removed this row.
        if (!(error instanceof AppError && error.kind === 'CONFLICT')) throw error
      })
      await deps.db.write((tx) => deps.attestedRepaymentStore.remove(tx, chainId, uid), locking)
      deps.attestedCounts.add(`${chainId} reversed`)
    }
    if (rows.length < batchSize) return
  }
}

/**
 * @returns the attestations that the node does not have; undefined if no node answered or the chain changed meanwhile
 */
async function recordBatch(
  deps: Deps,
  reading: ChainReading,
  unprocessed: readonly Attestation[],
  lookup: MerchantLookup,
): Promise<readonly Attestation[] | undefined> {
  const { attestationStore, attestedRepaymentStore: store, clock } = deps
  const { chain, nodes, sync } = reading
  const node = nodes.next()
  const statements = node && (await statementsOf(deps, { ...reading, node }, unprocessed).catch(undefinedIfEnded))
  if (!statements) return undefined
  const refs = [...statements.values()].flatMap((statement) => (statement ? [statement.merchantRef] : []))
  const merchants = await merchantsByRef(deps, refs, lookup)
  const wallets = await walletsAt(deps, [...new Set(unprocessed.map(({ attester }) => attester))])
  const drafts = unprocessed.flatMap((attestation): { uid: string; draft: RepaymentDraft }[] => {
    const { uid, attester, blockAt } = attestation
    const wallet = wallets.find((one) => one.owner === 'LENDER' && one.address === attester && covers(one, blockAt))
    const draft = draftOf(statements.get(uid), wallet?.ownerId, merchants)
    return draft && !violationOf(draft, clock.now()) ? [{ uid, draft }] : []
  })
  const countLabels = await deps.db.write(async (tx) => {
    const current = await attestationStore.locked(tx, chain.chainId)
    // The chain was rewound meanwhile; the next run processes it again.
    const { countedTo, countedToHash } = sync
    if (current?.countedToHash !== countedToHash && !(await isCheckpoint(deps, chain.chainId, countedTo, countedToHash))) return undefined
    const labels: string[] = []
    const counted = await store.stillCounted(
      tx,
      chain.chainId,
      unprocessed.map(({ uid }) => uid),
    )
    const countedDrafts = drafts.filter(({ uid }) => counted.has(uid))
    const results = await recordRepayments(tx, deps, {
      actor: system,
      source: 'ATTESTATION',
      drafts: countedDrafts.map(({ draft }) => draft),
    })
    const ids = new Map(countedDrafts.map(({ uid }, nth) => [uid, results[nth]] as const))
    for (const uid of counted) {
      if (!statements.has(uid)) continue
      const result = ids.get(uid)
      const repaymentId = result?.kind === 'RECORDED' ? result.repayment.id : null
      labels.push(`${chain.chainId} ${repaymentId === null ? 'left' : 'recorded'}`)
      await store.insert(tx, { chainId: chain.chainId, uid, repaymentId, at: clock.now() })
    }
    return labels
  }, locking)
  for (const label of countLabels ?? []) deps.attestedCounts.add(label)
  return countLabels && unprocessed.filter(({ uid }) => !statements.has(uid))
}

/** Returns whether the block is still a checkpoint of the chain. */
const isCheckpoint = async ({ attestationStore }: Deps, chainId: number, block: number, hash: string | null): Promise<boolean> =>
  (await attestationStore.checkpoints(chainId, block, 1)).some(({ blockHash }) => blockHash === hash)

/** Reads the attestations' statements by uid. Undefined for a statement that cannot be decoded. */
async function statementsOf(
  deps: Deps,
  reading: NodeReading,
  unprocessed: readonly Attestation[],
): Promise<Map<string, Statement | undefined>> {
  const eas = await deps.eas()
  const calls = unprocessed.map(({ uid }) => ({ to: reading.chain.contract, data: eas.attestationCall(uid as `0x${string}`) }))
  const { results } = await ask(deps, reading, { blocks: [], calls })
  const statements = new Map<string, Statement | undefined>()
  for (const [nth, { uid }] of unprocessed.entries()) {
    const statement = eas.decodeRepayment(results[nth] ?? '0x', uid)
    if (statement === 'FORGED')
      return endForFailure(deps, reading, new NodeError('FAULT', 'it returned an attestation that does not match its uid'))
    if (statement !== 'ABSENT') statements.set(uid, statement === 'NOTHING' ? undefined : statement)
  }
  return statements
}

/** Whether this run has read the merchants. */
type MerchantLookup = { isRead: boolean }

/**
 * Returns merchants by the hash of their id. Their ids are read once per run, and only for an unknown hash. Merchants
 * are never deleted, so known hashes stay valid.
 */
async function merchantsByRef(deps: Deps, refs: readonly string[], lookup: MerchantLookup): Promise<ReadonlyMap<string, string>> {
  const { ids, byRef } = deps.knownMerchants
  if (lookup.isRead || refs.every((ref) => byRef.has(ref))) return byRef
  const { refOf } = await deps.eas()
  const turn = await deps.scheduler.enter()
  try {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const batch = await deps.attestedRepaymentStore.merchantIds(after, merchantsBatch)
      for (const id of batch) {
        if (!ids.has(id)) byRef.set(refOf(id), id)
        ids.add(id)
      }
      await turn.rest()
      after = batch.length < merchantsBatch ? undefined : batch.at(-1)
    }
    lookup.isRead = true
    return byRef
  } finally {
    turn.leave()
  }
}

/**
 * Builds the repayment of a statement. Returns undefined if it names no known merchant or lender or has invalid values.
 */
function draftOf(
  statement: Statement | undefined,
  lenderId: string | null | undefined,
  merchants: ReadonlyMap<string, string>,
): RepaymentDraft | undefined {
  const merchantId = statement && merchants.get(statement.merchantRef)
  const outcome = statement && outcomes[statement.outcome]
  if (!statement || !merchantId || !lenderId || !outcome) return undefined
  const amountUsd = Number(statement.amountUsdCents)
  const [dueAt, settledAt] = [Number(statement.dueAt) * 1_000, Number(statement.settledAt) * 1_000]
  if (![amountUsd, dueAt, settledAt].every(Number.isSafeInteger)) return undefined
  return { merchantId, lenderId, loanRef: statement.loanRef, outcome, amountUsd, dueAt, settledAt: settledAt === 0 ? null : settledAt }
}
