import { parseInstant } from '../lib/instant.ts'
import { invalidField } from './errors.ts'

/** End of publication dates. The search index cannot order later ones. */
const lastMs = Date.UTC(2200, 0, 1)

/**
 * Validates a publication date in milliseconds; NaN is invalid.
 * @throws AppError INVALID
 */
export function assertPublicationDate(ms: number | null | undefined): void {
  if (ms === null || ms === undefined || (ms >= 0 && ms < lastMs)) return
  throw invalidField('publishedAt', 'must be a time between 1970 and 2199')
}

/** Converts the publication date of a request body to milliseconds. */
export function publicationInMs<Body extends { publishedAt?: string | null }>({
  publishedAt,
  ...rest
}: Body): Omit<Body, 'publishedAt'> & { publishedAt?: number | null | undefined } {
  return { ...rest, publishedAt: typeof publishedAt === 'string' ? parseInstant(publishedAt) : publishedAt }
}
