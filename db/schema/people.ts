import { sql } from 'drizzle-orm'
import { bool, index, instant, json, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'

/** Merchants and super admins: they share one login and one space of e-mail addresses. */
export const users = table(
  'users',
  {
    id: text('id').primaryKey(),
    role: word('role', ['MERCHANT', 'SUPER_ADMIN']).notNull(),
    email: text('email').notNull(),
    passwordHash: text('password_hash').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (user) => [uniqueIndex('users_email').on(user.email), index('users_created').on(user.createdAt)],
)

export const customers = table(
  'customers',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id').notNull(),
    email: text('email').notNull(),
    name: text('name').notNull(),
    phone: text('phone'),
    acceptsMarketing: bool('accepts_marketing').notNull().default(false),
    passwordHash: text('password_hash'),
    /** When they showed that they read what goes to this e-mail address; null: they have not, or it is another since. */
    emailProvenAt: instant('email_proven_at'),
    /** When their personal data was erased; nothing of a person is in the row since. */
    erasedAt: instant('erased_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (customer) => [
    uniqueIndex('customers_shop_email').on(customer.shopId, customer.email),
    index('customers_shop').on(customer.shopId, customer.id),
    index('customers_created').on(customer.createdAt),
  ],
)

/** One login. Revoking it ends its access tokens and its whole family of refresh tokens. */
export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    subjectId: text('subject_id').notNull(),
    role: word('role', ['MERCHANT', 'CUSTOMER', 'SUPER_ADMIN']).notNull(),
    /** A customer's shop. */
    shopId: text('shop_id'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    /** To the minute. Null of one that was begun before this was noted. */
    lastUsedAt: instant('last_used_at'),
    /** Where it was begun or last renewed from, and by what, as the caller called itself. */
    address: text('address'),
    agent: text('agent'),
  },
  (session) => [index('sessions_subject').on(session.subjectId), index('sessions_expiry').on(session.expiresAt)],
)

export const refreshTokens = table(
  'refresh_tokens',
  {
    hash: text('hash').primaryKey(),
    sessionId: text('session_id')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (token) => [index('refresh_tokens_session').on(token.sessionId)],
)

/**
 * Attempts that count against a limit, one row each, across processes and restarts: a login is counted before the
 * password is looked at and taken back when it was right, so that many tries at once cannot slip under the limit.
 */
export const attempts = table(
  'attempts',
  {
    id: text('id').primaryKey(),
    /** What is limited and for whom, hashed: `login:address:…`, `signup:…`. */
    bucket: text('bucket').notNull(),
    at: instant('at').notNull(),
  },
  (attempt) => [index('attempts_bucket').on(attempt.bucket, attempt.at), index('attempts_at').on(attempt.at)],
)

/** Who did what. Triggers refuse to change a row, and to remove one that `auditRetention` does not give up. */
export const auditLog = table(
  'audit_log',
  {
    id: text('id').primaryKey(),
    at: instant('at').notNull(),
    /** The id of the person, or of the key, that did it; `system` for a command. */
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    shopId: text('shop_id'),
    requestId: text('request_id'),
    /** Where the request came from. */
    address: text('address'),
    /** What of the subject changed, as it was before and after; no personal values and no secrets. */
    before: json<AuditValues>('before'),
    after: json<AuditValues>('after'),
  },
  (entry) => [
    index('audit_log_subject').on(entry.subject, entry.at),
    index('audit_log_actor').on(entry.actor, entry.at),
    index('audit_log_action').on(entry.action, entry.at),
    index('audit_log_shop').on(entry.shopId, entry.at),
    index('audit_log_at').on(entry.at),
    index('audit_log_request').on(entry.requestId, entry.at).where(sql`request_id is not null`),
  ],
)
export type AuditValues = Readonly<Record<string, unknown>>

/** At most one row, and only while a write removes rows of the audit trail: those from before `until`, by the retention that is set. */
export const auditRetention = table('audit_retention', { id: text('id').primaryKey(), until: instant('until').notNull() })

/** A request that must have its effect once, however often it is sent. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    /** Principal, method and path. */
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    /** Names the attempt that holds the lease: only that one may store the result. */
    attempt: text('attempt').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** The sealed status and body, once there are any. */
    sealedAnswer: text('sealed_answer'),
  },
  (row) => [primaryKey({ columns: [row.scope, row.key] }), index('idempotency_keys_expiry').on(row.expiresAt)],
)

/** What the database knows of the master keys that sealed its secrets: enough to notice a missing or a different one. */
export const encryptionKeys = table('encryption_keys', {
  version: text('version').primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  createdAt: instant('created_at').notNull(),
  retiredAt: instant('retired_at'),
})
