import { parseInstant } from '../lib/instant.ts'
import { AppError } from './errors.ts'

/** Before it lies nothing that we sell, and beyond it nothing that the search index could order. */
const firstMs = Date.UTC(1970, 0, 1)
const lastMs = Date.UTC(2200, 0, 1)

/** @throws AppError INVALID unless a publication date, in milliseconds, is one; an hour that the clock lacks is NaN */
export function assertPublicationDate(ms: number | null | undefined): void {
  if (ms === null || ms === undefined || (ms >= firstMs && ms < lastMs)) return
  throw new AppError('INVALID', 'publishedAt (body): a moment from 1970 to 2199')
}

/** The body of a create or a change as the domain takes it: the publication date in milliseconds. */
export function publicationInMs<Body extends { publishedAt?: string | null }>({
  publishedAt,
  ...rest
}: Body): Omit<Body, 'publishedAt'> & { publishedAt?: number | null | undefined } {
  return { ...rest, publishedAt: typeof publishedAt === 'string' ? parseInstant(publishedAt) : publishedAt }
}
