import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { lendingApplications, lendingDecisions, lendingDocuments, lendingEvents } from '../../../../db/schema/lending.ts'
import { movesOf } from '../../../core/state-machine.ts'
import type { Slice } from '../../../lib/page.ts'
import { draftsMax, type LendingApplication, type LendingDecision, type LendingEvent, lendingTransitions, shownMax } from './domain.ts'
import type { WholeApplication } from './view.ts'

const byId = rowsOf(lendingApplications, ['id'])
const ofMerchant = rowsOf(lendingApplications, ['id', 'merchantId'])
const documentsOf = rowsOf(lendingDocuments, ['applicationId'], asc(lendingDocuments.key))
/** The newest, first, and one more where there are more than are shown. */
const decisionsOf = prepare((queries) =>
  queries
    .select()
    .from(lendingDecisions)
    .where(valuesOf(lendingDecisions, ['applicationId']))
    .orderBy(desc(lendingDecisions.id))
    .limit(shownMax + 1),
)
const eventsOf = prepare((queries) =>
  queries
    .select()
    .from(lendingEvents)
    .where(valuesOf(lendingEvents, ['applicationId']))
    .orderBy(desc(lendingEvents.position))
    .limit(shownMax + 1),
)
/** The state stands there as it is, so that the index of drafts alone is looked at. */
const drafts = prepare((queries) =>
  queries
    .select({ id: lendingApplications.id })
    .from(lendingApplications)
    .where(and(valuesOf(lendingApplications, ['merchantId']), sql`status = 'DRAFT'`))
    .limit(draftsMax),
)
const insert = insertOf(lendingApplications)
const insertEvent = insertOf(lendingEvents)
const insertDecision = insertOf(lendingDecisions)

type From = Pick<Reader, 'first' | 'all'>

export const createLendingStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Moves an application on, and changes it where it is; each raises its version, which the caller gives. */
  ...movesOf(lendingApplications, lendingTransitions),
  async find(id: string, from: From = read): Promise<LendingApplication | undefined> {
    return from.first(byId, { id })
  },
  /** Undefined also for another merchant's. */
  async findOf(merchantId: string, id: string, from: From = read): Promise<LendingApplication | undefined> {
    return from.first(ofMerchant, { id, merchantId })
  },
  /** A merchant's, newest first. */
  list: (merchantId: string, slice: Slice) =>
    selectSlice(read, lendingApplications, {
      where: eq(lendingApplications.merchantId, merchantId),
      order: [desc(lendingApplications.id)],
      ...slice,
    }),
  /** How many drafts a merchant has, up to as many as they may. */
  async countDrafts(tx: Writer, merchantId: string): Promise<number> {
    return (await tx.all(drafts, { merchantId })).length
  },
  async insert(tx: Writer, application: LendingApplication): Promise<void> {
    await insert(tx, application)
  },
  async insertEvent(tx: Writer, event: LendingEvent): Promise<void> {
    await insertEvent(tx, event)
  },
  async insertDecision(tx: Writer, decision: LendingDecision): Promise<void> {
    await insertDecision(tx, decision)
  },
  /** The keys of the documents that there is a file of. */
  async uploadedKeys(applicationId: string, from: From): Promise<string[]> {
    return (await from.all(documentsOf, { applicationId })).map(({ key }) => key)
  },
  /** All that operators are shown of an application, without what the KYB record says. */
  async whole(application: LendingApplication, from: From = read): Promise<WholeApplication> {
    const applicationId = application.id
    const [documents, decisions, events] = await Promise.all([
      from.all(documentsOf, { applicationId }),
      from.all(decisionsOf, { applicationId }),
      from.all(eventsOf, { applicationId }),
    ])
    return {
      application,
      documents,
      decisions: decisions.slice(0, shownMax).reverse(),
      events: events.slice(0, shownMax).reverse(),
      isCapped: decisions.length > shownMax || events.length > shownMax,
    }
  },
})
