/** Inserts lending decisions with their assessments, as the route of decisions stores them. */
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { lendingApplications, lendingDecisions } from '../../db/schema/lending.ts'
import type { Assessment } from '../../src/modules/lending/credit/domain.ts'
import { assess, storeRules } from '../../src/modules/lending/credit/index.ts'
import type { TestApp } from './app.ts'

type Given = { decision?: 'APPROVED' | 'REJECTED' | 'UNDER_REVIEW'; requestedUsd?: number | null; assessment?: Assessment | null }

/** Inserts a decided application of a merchant, with an assessment unless it is null. */
export async function insertDecision(
  { deps }: TestApp,
  merchantId: string,
  given: Given,
): Promise<{ decisionId: string; applicationId: string }> {
  const { decision = 'APPROVED', requestedUsd = null, assessment } = given
  const [applicationId, decisionId, now] = [deps.newId('lendingApplication'), deps.newId('lendingDecision'), deps.clock.now()]
  await deps.db.write(async (tx) => {
    await tx.insert(lendingApplications).values({
      id: applicationId,
      merchantId,
      cohort: assessment?.cohort ?? 'US_COMPANY',
      tier: 'TIER_1_REFERRAL',
      status: decision,
      requestedAmountUsd: requestedUsd === null ? null : requestedUsd * 100,
      queuedAt: now,
      createdBy: merchantId,
      createdAt: now,
      updatedAt: now,
      version: 1,
    })
    if (assessment) await storeRules(tx, deps)
    const assessed = assessment ? assess(assessment) : { assessment: null, envelope: null, ruleVersion: null }
    await tx.insert(lendingDecisions).values({ id: decisionId, applicationId, decision, ...assessed, actor: merchantId, at: now })
  })
  return { decisionId, applicationId }
}

/** Changes a stored decision, which only the owner of the database can do: drops the trigger that prevents it. */
export async function forgeDecision(
  { deps }: TestApp,
  decisionId: string,
  fields: Partial<typeof lendingDecisions.$inferInsert>,
): Promise<void> {
  const guard =
    engine === 'postgres'
      ? sql`alter table lending_decisions disable trigger lending_decisions_kept`
      : sql`drop trigger if exists lending_decisions_unchanged`
  await deps.db.write(async (tx) => {
    await tx.rows(guard)
    await tx.update(lendingDecisions).set(fields).where(eq(lendingDecisions.id, decisionId))
  })
}
