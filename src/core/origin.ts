import { AppError } from './errors.ts'

/** Refuses a browser on an origin that the shop did not list. Callers without an origin, and shops without a list, pass. */
export function assertOrigin(origin: string | null, origins: readonly string[]): void {
  if (origin && origins.length > 0 && !origins.includes(origin)) throw new AppError('FORBIDDEN', 'The shop does not allow this origin')
}
