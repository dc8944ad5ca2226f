import { and, eq } from 'drizzle-orm'
import type { Database, Writer } from '../../../db/engine.ts'
import { customers } from '../../../db/schema/people.ts'

export type Customer = typeof customers.$inferSelect
export type CustomerStore = ReturnType<typeof createCustomerStore>

export const createCustomerStore = ({ read }: Pick<Database, 'read'>) => ({
  async findByEmail(shopId: string, email: string): Promise<Customer | undefined> {
    const [customer] = await read
      .select()
      .from(customers)
      .where(and(eq(customers.shopId, shopId), eq(customers.email, email)))
      .limit(1)
    return customer
  },
  async insert(tx: Writer, customer: Customer): Promise<void> {
    await tx.insert(customers).values(customer)
  },
})
