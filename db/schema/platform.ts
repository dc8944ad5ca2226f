import { index, instant, int, primaryKey, table, text, word } from '../columns.ts'

/** Each start of a server process: what ran when, and which of them run. */
export const processStarts = table(
  'process_starts',
  {
    id: text('id').primaryKey(),
    host: text('host').notNull(),
    version: text('version').notNull(),
    /** Version and commit, where that is known: what is compared. */
    revision: text('revision').notNull(),
    startedAt: instant('started_at').notNull(),
    /** Of the first in a row of starts of the same revision: when that was deployed. */
    deployedAt: instant('deployed_at').notNull(),
    /** When it last said that it runs. */
    seenAt: instant('seen_at').notNull(),
    /** When it ended, where it could say so. */
    stoppedAt: instant('stopped_at'),
  },
  (start) => [index('process_starts_by_start').on(start.startedAt)],
)

/** Errors of the log, one row a kind and hour. No messages: they may quote anything. */
export const errorEvents = table(
  'error_events',
  {
    fingerprint: text('fingerprint').notNull(),
    /** Its beginning, UTC. */
    hour: instant('hour').notNull(),
    title: text('title').notNull(),
    count: int('count').notNull(),
    lastSeen: instant('last_seen').notNull(),
  },
  (event) => [primaryKey({ columns: [event.hour, event.fingerprint] })],
)

/** The last good answer of each outside provider of the operations' pages, for restarts and other processes. */
export const operationsAnswers = table('operations_answers', {
  kind: word('kind', ['services', 'errors', 'deploys']).primaryKey(),
  /** Who was asked: another one's answer is not shown. */
  source: text('source').notNull(),
  asOf: instant('as_of').notNull(),
  /** JSON, as it was made here. */
  body: text('body').notNull(),
})
