/** Demo loans: applications in every state with documents, lenders and repayments. */
import type { Actor } from '../core/command-context.ts'
import { dayMs } from '../lib/day.ts'
import { findUserByEmail } from '../modules/identity/merchant/index.ts'
import {
  createApplication,
  decide,
  listApplications,
  readAdminApplication,
  readChecklist,
  submitApplication,
  updateApplication,
  withdrawApplication,
} from '../modules/lending/application/index.ts'
import { changeLender, createLender, listLenders } from '../modules/lending/lender/index.ts'
import { putDocument } from '../modules/lending/lending-document/index.ts'
import { importTape } from '../modules/lending/repayment/index.ts'
import { contextOf, type Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { demoLenders, demoOperator } from './data.ts'
import { demoId, depsAt } from './past-clock.ts'
import type { ShopPlan } from './plan.ts'
import { accountsOf, pdfOf } from './sample-documents.ts'
import type { DemoLoan, DemoRepaid } from './shop.ts'
import { fillTrust } from './trust.ts'

type Borrower = { readonly plan: ShopPlan; readonly shop: Shop }

const slice = { page: 1, limit: 100, offset: 0 }
/** Days before the due date of a repayment on time, and days after it of a late one. */
const [earlyDays, lateDays] = [1, 9]

/** Returns the time of a shop's day in the demo year, in milliseconds since the epoch. */
const momentOf = ({ plan: { opensAt, shop } }: Borrower, day: number): number => opensAt + (day - shop.opensDay) * dayMs

/** Creates the lenders, applications, repayments and the trust data that are missing. */
export async function fillLending(deps: AppDeps, borrowers: readonly Borrower[], start: number, until: number): Promise<void> {
  const operator = await findUserByEmail(deps, demoOperator.email)
  if (!operator) throw new Error('the operator of the demo is made first')
  const actor = { id: operator.id }
  const repaid = makeLenders(deps, actor, start).then(async () => {
    await importRepayments(deps, actor, borrowers, until)
    await fillTrust(deps, actor, start)
  })
  await Promise.all([repaid, ...borrowers.map((borrower) => applyFor(deps, actor, borrower))])
}

const lenderIdOf = (name: string): string => demoId('lender', 0, name)

async function makeLenders(deps: AppDeps, actor: Actor, start: number): Promise<void> {
  const { data: existing } = await listLenders(deps, undefined, slice)
  for (const { name: displayName, isActive } of demoLenders) {
    const id = lenderIdOf(displayName)
    const pastDeps = depsAt(deps, start, { lender: id })
    const lender = existing.find((one) => one.id === id) ?? (await createLender(pastDeps, { actor }, { displayName }))
    pastDeps.clock.to(start + 2 * dayMs)
    if (isActive && lender.status === 'PENDING_KYB') await changeLender(pastDeps, { actor }, id, { status: 'ACTIVE' })
  }
}

/** Imports the repayments as a loan tape. The import recognizes rows that exist. */
async function importRepayments(deps: AppDeps, actor: Actor, borrowers: readonly Borrower[], until: number): Promise<void> {
  const rows = borrowers.flatMap((borrower) => (borrower.plan.shop.repaid ?? []).flatMap((repaid) => rowsOf(borrower, repaid)))
  const tape = Buffer.from(['merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt', ...rows, ''].join('\n'))
  async function* source() {
    yield tape
  }
  await importTape(depsAt(deps, until), { actor }, source)
}

function rowsOf(borrower: Borrower, { lender, loanRef, amountUsd, firstDay, everyDays, outcomes }: DemoRepaid): string[] {
  return outcomes.map((outcome, nth) => {
    const dueAt = momentOf(borrower, firstDay + nth * everyDays)
    const settledAt = { ON_TIME: dueAt - earlyDays * dayMs, LATE: dueAt + lateDays * dayMs, DEFAULT: undefined }[outcome]
    const times = [dueAt, settledAt].map((time) => (time === undefined ? '' : new Date(time).toISOString()))
    return [borrower.shop.merchantId, lenderIdOf(lender), loanRef, outcome, amountUsd, ...times].join(',')
  })
}

async function applyFor(deps: AppDeps, operator: Actor, borrower: Borrower): Promise<void> {
  const { merchantId, name } = borrower.shop
  const { data: existing } = await listApplications(deps, merchantId, undefined, slice)
  for (const [nth, loan] of (borrower.plan.shop.loans ?? []).entries()) {
    const id = demoId('lendingApplication', momentOf(borrower, loan.day), `${name} ${nth}`)
    await advanceApplication(deps, operator, borrower, { id, loan, exists: existing.some((one) => one.id === id) })
  }
}

/** Moves an application from its stored state to the planned one. */
async function advanceApplication(
  deps: AppDeps,
  operator: Actor,
  borrower: Borrower,
  { id, loan, exists }: { id: string; loan: DemoLoan; exists: boolean },
): Promise<void> {
  const pastDeps = depsAt(deps, momentOf(borrower, loan.day), { lendingApplication: id })
  const by = { shop: contextOf(borrower.shop), actor: { id: borrower.shop.merchantId } }
  if (!exists) await createApplication(pastDeps, by, {})
  const { status, decisions } = await readAdminApplication(pastDeps, id)
  if (status === 'DRAFT') {
    await updateApplication(pastDeps, by, id, loan.asks)
    await uploadDocuments(pastDeps, by, borrower, { id, count: loan.documents ?? Number.POSITIVE_INFINITY })
  }
  const to = (day: number) => pastDeps.clock.to(momentOf(borrower, day))
  if (loan.withdrawn) {
    to(loan.withdrawn.day)
    if (status !== 'WITHDRAWN') await withdrawApplication(pastDeps, by, id, loan.withdrawn.reason)
  } else if (loan.submittedDay !== undefined) {
    to(loan.submittedDay)
    if (status === 'DRAFT') await submitApplication(pastDeps, by, id)
    for (const { day, decision, reason = null, partnerExternalRef = null, assessment = null } of (loan.decisions ?? []).slice(
      decisions.length,
    )) {
      to(day)
      await decide(pastDeps, { actor: operator }, id, { decision, reason, partnerExternalRef, assessment })
    }
  }
}

type By = Parameters<typeof putDocument>[1]

/** Uploads the required documents, at most `count`. */
async function uploadDocuments(deps: AppDeps, by: By, { plan }: Borrower, { id, count }: { id: string; count: number }): Promise<void> {
  const { items } = await readChecklist(deps, by.shop.merchantId, id)
  const uploadedKeys = new Set((await readAdminApplication(deps, id)).documents.map(({ key }) => key))
  const requiredItems = items.filter(({ required }) => required).slice(0, count)
  for (const { key, label, acceptedMimeTypes } of requiredItems.filter((item) => !uploadedKeys.has(item.key))) {
    const isAccounts = acceptedMimeTypes.some((type) => type === 'text/csv')
    const file = isAccounts ? accountsOf(`${id} ${key}`) : pdfOf([label, plan.shop.title, 'A document of the demo: it says nothing'])
    async function* chunks() {
      yield file
    }
    const fileName = `${key}.${isAccounts ? 'csv' : 'pdf'}`
    const type = isAccounts ? 'text/csv' : 'application/pdf'
    await putDocument(deps, by, { applicationId: id, key }, { type, fileName, length: file.length, chunks })
  }
}
