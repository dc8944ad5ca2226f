import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { lendingApplications, lendingDecisions, lendingDocuments, lendingEvents } from '../../../../db/schema/lending.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { draftsMax, historyMax, type LendingApplication, lendingTransitions } from './domain.ts'
import type { ApplicationDetails } from './view.ts'

const byId = rowsOf(lendingApplications, ['id'])
const ofMerchant = rowsOf(lendingApplications, ['id', 'merchantId'])
const documentsOf = rowsOf(lendingDocuments, ['applicationId'], asc(lendingDocuments.key))
/** Newest first, with one row more than the API returns, to detect that there are more. */
const decisionsOf = prepare((queries) =>
  queries
    .select()
    .from(lendingDecisions)
    .where(valuesOf(lendingDecisions, ['applicationId']))
    .orderBy(desc(lendingDecisions.id))
    .limit(historyMax + 1),
)
const eventsOf = prepare((queries) =>
  queries
    .select()
    .from(lendingEvents)
    .where(valuesOf(lendingEvents, ['applicationId']))
    .orderBy(desc(lendingEvents.position))
    .limit(historyMax + 1),
)
/** A literal status, so that the partial index of drafts is used. */
const drafts = prepare((queries) =>
  queries
    .select({ id: lendingApplications.id })
    .from(lendingApplications)
    .where(and(valuesOf(lendingApplications, ['merchantId']), sql`status = 'DRAFT'`))
    .limit(draftsMax),
)

type Source = Pick<Reader, 'first' | 'all'>

export const createLendingStore = ({ read }: Pick<Database, 'read'>) => ({
  /** The caller raises the version in each move and change. */
  ...createStateMachine(lendingApplications, lendingTransitions),
  find: async (id: string, from: Source = read): Promise<LendingApplication | undefined> => from.first(byId, { id }),
  /** Returns undefined also for another merchant's application. */
  async findOf(merchantId: string, id: string, from: Source = read): Promise<LendingApplication | undefined> {
    return from.first(ofMerchant, { id, merchantId })
  },
  /** Newest first. */
  list: (merchantId: string, slice: PageSlice) =>
    selectSlice(read, lendingApplications, {
      where: eq(lendingApplications.merchantId, merchantId),
      order: [desc(lendingApplications.id)],
      ...slice,
    }),
  /** Counts a merchant's drafts, up to `draftsMax`. */
  countDrafts: async (tx: Writer, merchantId: string): Promise<number> => (await tx.all(drafts, { merchantId })).length,
  insert: insertOf(lendingApplications),
  insertEvent: insertOf(lendingEvents),
  insertDecision: insertOf(lendingDecisions),
  /** Returns the keys of the documents that have a file. */
  async uploadedKeys(applicationId: string, from: Source): Promise<string[]> {
    return (await from.all(documentsOf, { applicationId })).map(({ key }) => key)
  },
  /** Reads everything that operators see except the KYB record. */
  async readDetails(application: LendingApplication, from: Source = read): Promise<ApplicationDetails> {
    const applicationId = application.id
    const [documents, decisions, events] = await Promise.all([
      from.all(documentsOf, { applicationId }),
      from.all(decisionsOf, { applicationId }),
      from.all(eventsOf, { applicationId }),
    ])
    return {
      application,
      documents,
      decisions: decisions.slice(0, historyMax).reverse(),
      events: events.slice(0, historyMax).reverse(),
      isCapped: decisions.length > historyMax || events.length > historyMax,
    }
  },
})
