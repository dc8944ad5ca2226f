import { enumText, index, instant, int, primaryKey, table, text } from '../columns.ts'

/** Starts of server processes. */
export const processStarts = table(
  'process_starts',
  {
    id: text('id').primaryKey(),
    host: text('host').notNull(),
    version: text('version').notNull(),
    /** Version and commit, which deploy detection compares. */
    revision: text('revision').notNull(),
    startedAt: instant('started_at').notNull(),
    /** First start of this revision in a row: its deploy time. */
    deployedAt: instant('deployed_at').notNull(),
    /** Last heartbeat. */
    seenAt: instant('seen_at').notNull(),
    /** Regular end, if recorded. */
    stoppedAt: instant('stopped_at'),
  },
  (start) => [index('process_starts_by_start').on(start.startedAt)],
)

/** Logged errors per kind and hour. No messages, because they may quote anything. */
export const errorEvents = table(
  'error_events',
  {
    fingerprint: text('fingerprint').notNull(),
    /** Start of the hour, UTC. */
    hour: instant('hour').notNull(),
    title: text('title').notNull(),
    count: int('count').notNull(),
    lastSeen: instant('last_seen').notNull(),
  },
  (event) => [primaryKey({ columns: [event.hour, event.fingerprint] })],
)

/** Last valid response of each operations provider, for restarts and other processes. */
export const operationsAnswers = table('operations_answers', {
  kind: enumText('kind', ['services', 'errors', 'deploys']).primaryKey(),
  /** Identifies the queried account; responses of others are not shown. */
  source: text('source').notNull(),
  asOf: instant('as_of').notNull(),
  /** Our JSON. */
  body: text('body').notNull(),
})

/** Permanent keys of the instance, sealed by the master key. Changing one would invalidate what it protects. */
export const instanceKeys = table('instance_keys', {
  purpose: enumText('purpose', [
    'GIFT_CARD_CODES',
    'SANDBOX_WEBHOOKS',
    'CLIENT_ADDRESSES',
    'PAYMENT_CALLBACKS',
    'ORDER_LINKS',
    'DISCOUNT_CUSTOMERS',
    'MEDIA',
  ]).primaryKey(),
  sealedKey: text('sealed_key').notNull(),
  createdAt: instant('created_at').notNull(),
})
