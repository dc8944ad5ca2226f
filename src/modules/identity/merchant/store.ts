import { and, eq } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { merchantById } from '../../../../db/merchant-account.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { users } from '../../../../db/schema/people.ts'
import type { User } from './domain.ts'

const byId = rowsOf(users, ['id'])
const byEmail = rowsOf(users, ['email'])

export function createUserStore({ read }: Pick<Database, 'read'>) {
  return {
    findByEmail: async (email: string): Promise<User | undefined> => read.first(byEmail, { email }),
    find: async (id: string): Promise<User | undefined> => read.first(byId, { id }),
    /** Returns whether the account is a merchant's, also one of a super admin with a shop. */
    isMerchant: async (id: string): Promise<boolean> => (await read.first(merchantById, { id })) !== undefined,
    /** Returns whether the account still has this password hash. */
    async hasPassword(tx: Writer, id: string, passwordHash: string): Promise<boolean> {
      const same = and(eq(users.id, id), eq(users.passwordHash, passwordHash))
      return (await tx.select({ id: users.id }).from(users).where(same).limit(1)).length > 0
    },
    async setPassword(tx: Writer, id: string, passwordHash: string): Promise<void> {
      await tx.update(users).set({ passwordHash }).where(eq(users.id, id))
    },
    async anySuperAdmin(from: Pick<Reader, 'select'> = read): Promise<boolean> {
      const rows = await from.select({ id: users.id }).from(users).where(eq(users.role, 'SUPER_ADMIN')).limit(1)
      return rows.length > 0
    },
    async anyUser(): Promise<boolean> {
      const rows = await read.select({ id: users.id }).from(users).limit(1)
      return rows.length > 0
    },
    insert: insertOf(users),
  }
}
