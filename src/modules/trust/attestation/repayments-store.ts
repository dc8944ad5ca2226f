import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lte, notExists, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { isMerchantAccount } from '../../../../db/merchant-account.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { users } from '../../../../db/schema/people.ts'
import { attestations, attestedRepayments } from '../../../../db/schema/trust.ts'
import type { Attestation } from './domain.ts'

const isSame = and(eq(attestedRepayments.chainId, attestations.chainId), eq(attestedRepayments.uid, attestations.uid))

export const createAttestedRepaymentStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Lists counted attestations of schema C that were not processed, in order, after a position and up to a block. */
  listUnprocessed: (
    chainId: number,
    after: { readonly blockNumber: number; readonly uid: string },
    upTo: number,
    limit: number,
  ): Promise<Attestation[]> =>
    read
      .select()
      .from(attestations)
      .where(
        and(
          eq(attestations.chainId, chainId),
          gte(attestations.blockNumber, after.blockNumber),
          or(
            gt(attestations.blockNumber, after.blockNumber),
            and(eq(attestations.blockNumber, after.blockNumber), gt(attestations.uid, after.uid)),
          ),
          lte(attestations.blockNumber, upTo),
          eq(attestations.schema, 'C'),
          eq(attestations.isCounted, true),
          eq(attestations.isDemo, false),
          notExists(read.select({ one: sql`1` }).from(attestedRepayments).where(isSame)),
        ),
      )
      .orderBy(asc(attestations.blockNumber), asc(attestations.uid))
      .limit(limit),
  /**
   * Lists recorded repayments whose attestations no longer count: those revoked after a block, or all without a block.
   */
  async listNoLongerCounted(
    chainId: number,
    revokedAfter: number | undefined,
    limit: number,
  ): Promise<{ uid: string; repaymentId: string }[]> {
    const why =
      revokedAfter === undefined
        ? or(isNull(attestations.uid), eq(attestations.isCounted, false))
        : gt(attestations.revokedBlock, revokedAfter)
    const rows = await read
      .select({ uid: attestedRepayments.uid, repaymentId: attestedRepayments.repaymentId })
      .from(attestedRepayments)
      .leftJoin(attestations, isSame)
      .where(and(eq(attestedRepayments.chainId, chainId), isNotNull(attestedRepayments.repaymentId), why))
      .limit(limit)
    return rows.flatMap(({ uid, repaymentId }) => (repaymentId === null ? [] : [{ uid, repaymentId }]))
  },
  /** In id order. */
  async merchantIds(after: string, limit: number): Promise<string[]> {
    const rows = await read
      .select({ id: users.id })
      .from(users)
      .where(and(isMerchantAccount, gt(users.id, after)))
      .orderBy(asc(users.id))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
  /**
   * Returns the uids that still count. The caller holds the chain's row, so no sync changes them. A change of the
   * registry may; the next run then reverses the repayment.
   */
  async stillCounted(tx: Pick<Reader, 'select'>, chainId: number, uids: readonly string[]): Promise<Set<string>> {
    const rows = await tx
      .select({ uid: attestations.uid })
      .from(attestations)
      .where(and(eq(attestations.chainId, chainId), inArray(attestations.uid, [...uids]), eq(attestations.isCounted, true)))
    return new Set(rows.map(({ uid }) => uid))
  },
  insert: insertOf(attestedRepayments, 'leave'),
  async remove(tx: Writer, chainId: number, uid: string): Promise<void> {
    await tx.delete(attestedRepayments).where(and(eq(attestedRepayments.chainId, chainId), eq(attestedRepayments.uid, uid)))
  },
})
