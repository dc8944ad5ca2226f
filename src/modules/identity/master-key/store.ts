import { and, asc, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { encryptionKeys } from '../../../../db/schema/people.ts'

type EncryptionKeyRow = typeof encryptionKeys.$inferSelect

/** All columns with sealed values: the column, the key of its rows, and further columns that the seal is bound to. */
export const sealedColumns = {
  agent_keys: { sealed: 'private_key', key: ['kid'], owner: ['shop_id'] },
  api_keys: { sealed: 'sealed', key: ['id'], owner: ['shop_id'] },
  wallets: { sealed: 'sealed_key', key: ['shop_id'], owner: [] },
  idempotency_keys: { sealed: 'sealed_answer', key: ['scope', 'key'], owner: [] },
  instance_keys: { sealed: 'sealed_key', key: ['purpose'], owner: [] },
  lending_documents: { sealed: 'sealed_key', key: ['id'], owner: ['application_id', 'key'] },
  mails: { sealed: 'sealed', key: ['id'], owner: [] },
  payments: { sealed: 'sealed_token', key: ['id'], owner: [] },
  processor_accounts: { sealed: 'sealed_settings', key: ['id'], owner: ['shop_id', 'processor'] },
  second_factors: { sealed: 'sealed_secret', key: ['user_id'], owner: [] },
  service_providers: { sealed: 'sealed_secret', key: ['id'], owner: [] },
  webhook_endpoints: { sealed: 'sealed_secret', key: ['id'], owner: ['shop_id'] },
} as const satisfies Record<string, { sealed: string; key: readonly string[]; owner: readonly string[] }>

export type SealedTable = keyof typeof sealedColumns
/** The sealed text, and the values of the key and owner columns in order. */
export type SealedRow = { sealed: string; key: readonly string[]; owner: readonly string[] }

const names = (columns: readonly string[]): SQL =>
  sql.join(
    columns.map((column) => sql.identifier(column)),
    sql`, `,
  )
const values = (texts: readonly string[]): SQL =>
  sql.join(
    texts.map((text) => sql`${text}`),
    sql`, `,
  )

export const masterKeyStore = {
  async inUse(read: Pick<Reader, 'select'>): Promise<EncryptionKeyRow[]> {
    return read.select().from(encryptionKeys).where(isNull(encryptionKeys.retiredAt)).orderBy(asc(encryptionKeys.createdAt))
  },
  /** Including retired keys. */
  async first(read: Pick<Reader, 'select'>): Promise<EncryptionKeyRow | undefined> {
    const [row] = await read.select().from(encryptionKeys).orderBy(asc(encryptionKeys.createdAt), asc(encryptionKeys.version)).limit(1)
    return row
  },
  async register(tx: Writer, row: EncryptionKeyRow): Promise<void> {
    await tx
      .insert(encryptionKeys)
      .values(row)
      .onConflictDoUpdate({ target: encryptionKeys.version, set: { retiredAt: null } })
  },
  async retire(tx: Writer, versions: readonly string[], retiredAt: number): Promise<string[]> {
    const live = and(inArray(encryptionKeys.version, [...versions]), isNull(encryptionKeys.retiredAt))
    const rows = await tx.update(encryptionKeys).set({ retiredAt }).where(live).returning({ version: encryptionKeys.version })
    return rows.map(({ version }) => version)
  },

  async countSealed(read: Reader, table: SealedTable): Promise<number> {
    const { sealed } = sealedColumns[table]
    const [row] = await read.rows<{ n: number }>(
      sql`select cast(count(${sql.identifier(sealed)}) as integer) as n from ${sql.identifier(table)}`,
    )
    return row?.n ?? 0
  },
  /** Returns the next rows with a sealed value, in key order. */
  async pageOfSealed(read: Reader, table: SealedTable, after: readonly string[] | undefined, limit: number): Promise<SealedRow[]> {
    const { sealed, key, owner } = sealedColumns[table]
    const further = after ? sql`and (${names(key)}) > (${values(after)})` : sql``
    const rows = await read.rows<Record<string, string>>(
      sql`select ${names([...new Set([sealed, ...key, ...owner])])} from ${sql.identifier(table)}
          where ${sql.identifier(sealed)} is not null ${further} order by ${names(key)} limit ${limit}`,
    )
    const pick = (row: Record<string, string>, columns: readonly string[]) => columns.map((column) => row[column] ?? '')
    return rows.map((row) => ({ sealed: row[sealed] ?? '', key: pick(row, key), owner: pick(row, owner) }))
  },
  /** Replaces a sealed value unless it changed since it was read. */
  async replaceSealed(tx: Writer, table: SealedTable, row: SealedRow, resealed: string): Promise<boolean> {
    const { sealed, key } = sealedColumns[table]
    const rows = await tx.rows(
      sql`update ${sql.identifier(table)} set ${sql.identifier(sealed)} = ${resealed}
          where (${names(key)}) = (${values(row.key)}) and ${sql.identifier(sealed)} = ${row.sealed} returning 1 as done`,
    )
    return rows.length > 0
  },
}
