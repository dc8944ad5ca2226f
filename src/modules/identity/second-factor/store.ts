import { and, eq, isNull } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { lockNames } from '../../../../db/prepared.ts'
import { secondFactors } from '../../../../db/schema/second-factor.ts'
import type { SecondFactor } from './domain.ts'

export const createSecondFactorStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Locks a person's factor until the end of the write. */
  hold: (tx: Writer, userId: string): void => lockNames(tx, [`second-factor ${userId}`]),
  async find(userId: string, from: Pick<Reader, 'select'> = read): Promise<SecondFactor | undefined> {
    const [row] = await from.select().from(secondFactors).where(eq(secondFactors.userId, userId)).limit(1)
    return row
  },
  /** Replaces an unconfirmed factor. */
  async begin(tx: Writer, row: SecondFactor): Promise<void> {
    await tx.delete(secondFactors).where(and(eq(secondFactors.userId, row.userId), isNull(secondFactors.confirmedAt)))
    await tx.insert(secondFactors).values(row)
  },
  async change(tx: Writer, userId: string, fields: Partial<SecondFactor>): Promise<void> {
    await tx.update(secondFactors).set(fields).where(eq(secondFactors.userId, userId))
  },
  async remove(tx: Writer, userId: string): Promise<void> {
    await tx.delete(secondFactors).where(eq(secondFactors.userId, userId))
  },
})
