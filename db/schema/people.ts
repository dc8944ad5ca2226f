import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, json, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'

/** Merchants and super admins, who share one login and unique e-mail addresses. */
export const users = table(
  'users',
  {
    id: text('id').primaryKey(),
    role: enumText('role', ['MERCHANT', 'SUPER_ADMIN']).notNull(),
    email: text('email').notNull(),
    passwordHash: text('password_hash').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (user) => [uniqueIndex('users_email').on(user.email), index('users_created').on(user.createdAt)],
)

/** Customers of shops: accounts, and shoppers that staff created or imported. */
/** Sort key of customers by name. A customer without a name has the e-mail address, as on screens. */
export const customerNameKey = ({ name, email }: { readonly name: SQLWrapper; readonly email: SQLWrapper }): SQL =>
  sql`lower(case when ${name} = '' then ${email} else ${name} end)`

export const customers = table(
  'customers',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id').notNull(),
    email: text('email').notNull(),
    name: text('name').notNull(),
    phone: text('phone'),
    acceptsMarketing: bool('accepts_marketing').notNull().default(false),
    /** The staff's note and tags; customers never see them. */
    note: text('note'),
    tags: json<string[]>('tags').notNull().default(sql`'[]'`),
    passwordHash: text('password_hash'),
    /** When the e-mail address was verified; null if it was not, or has changed. */
    emailProvenAt: instant('email_proven_at'),
    /** When the personal data was erased. */
    erasedAt: instant('erased_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with changes of the customer's own fields. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (customer) => [
    uniqueIndex('customers_shop_email').on(customer.shopId, customer.email),
    index('customers_shop').on(customer.shopId, customer.id),
    index('customers_name').on(customer.shopId, customerNameKey(customer), customer.id),
    index('customers_created').on(customer.createdAt),
  ],
)

/** A login session. Revoking it invalidates its access tokens and refresh tokens. */
export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    subjectId: text('subject_id').notNull(),
    role: enumText('role', ['MERCHANT', 'CUSTOMER', 'SUPER_ADMIN']).notNull(),
    /** Shop of a customer. */
    shopId: text('shop_id'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    /** To the minute; null in rows of older versions. */
    lastUsedAt: instant('last_used_at'),
    /** Address and user agent of the login or last refresh. */
    address: text('address'),
    agent: text('agent'),
  },
  (session) => [index('sessions_subject').on(session.subjectId), index('sessions_expiry').on(session.expiresAt)],
)

/** Refresh tokens of sessions, by hash: the tokens are not stored. */
export const refreshTokens = table(
  'refresh_tokens',
  {
    hash: text('hash').primaryKey(),
    sessionId: reference('session_id', () => sessions.id, { onDelete: 'cascade' }),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (token) => [index('refresh_tokens_session').on(token.sessionId)],
)

/**
 * Attempts that count towards limits across processes and restarts. A login is counted before its password is checked,
 * and removed if it was correct, so that concurrent attempts cannot exceed the limit.
 */
export const attempts = table(
  'attempts',
  {
    id: text('id').primaryKey(),
    /** Hash of limit and subject: `login:address:…`, `signup:…`. */
    bucket: text('bucket').notNull(),
    at: instant('at').notNull(),
  },
  (attempt) => [index('attempts_bucket').on(attempt.bucket, attempt.at), index('attempts_at').on(attempt.at)],
)

/** The audit log. Triggers prevent changes, and deletions except those of `auditRetention`. */
export const auditLog = table(
  'audit_log',
  {
    id: text('id').primaryKey(),
    at: instant('at').notNull(),
    /** Id of the person or key; `system` for commands. */
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    shopId: text('shop_id'),
    requestId: text('request_id'),
    /** Address of the request. */
    address: text('address'),
    /** Changed fields with old and new values; no personal data and no secrets. */
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
/** Values of changed fields by name. */
export type AuditValues = Readonly<Record<string, unknown>>

/** Contains a row only during a retention write: it allows deleting audit rows before `until`. */
export const auditRetention = table('audit_retention', { id: text('id').primaryKey(), until: instant('until').notNull() })

/** Idempotency keys. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    /** Principal, method and path. */
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    /** The attempt with the lease; only it may store a result. */
    attempt: text('attempt').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Sealed status and body. */
    sealedAnswer: text('sealed_answer'),
  },
  (row) => [primaryKey({ columns: [row.scope, row.key] }), index('idempotency_keys_expiry').on(row.expiresAt)],
)

/** Known master keys, to detect a missing or different one. */
export const encryptionKeys = table('encryption_keys', {
  version: text('version').primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  createdAt: instant('created_at').notNull(),
  retiredAt: instant('retired_at'),
})
