import type { users } from '../../../../db/schema/people.ts'

/** A merchant or an operator. */
export type User = typeof users.$inferSelect
