/** Before it lies nothing that we sell, and beyond it nothing that a search index could order. */
const firstMs = Date.UTC(1970, 0, 1)
const lastMs = Date.UTC(2200, 0, 1)

export const publicationDateRule = 'a moment from 1970 to 2199'

/** Whether a publication date, in milliseconds, is one: a day that the calendar lacks is NaN. */
export const isPublicationDate = (ms: number): boolean => ms >= firstMs && ms < lastMs
