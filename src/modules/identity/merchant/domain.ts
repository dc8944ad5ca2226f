import type { users } from '../../../../db/schema/people.ts'

/** Whoever logs in to run shops, or the instance. */
export type User = typeof users.$inferSelect
