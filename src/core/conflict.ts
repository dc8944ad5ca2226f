import { isUniqueViolation, NothingChanged } from '../../db/engine.ts'
import { AppError, fieldError } from './errors.ts'

/**
 * Turns a unique violation into a CONFLICT in the `catch` of a write; rethrows other errors.
 * @param message states which record has the value
 * @param field the path of the value, where it is of one field
 */
export const refuseTaken =
  (message: string, field?: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw field === undefined ? new AppError('CONFLICT', message, { code: 'already_exists' }) : alreadyExists(field, message)
  }

const triesMax = 25

/**
 * Runs work that reads, decides and writes. Runs it again while its write fails because of a concurrent change, so that
 * it decides with what that change stored.
 * @param work receives the number of earlier runs
 * @param tooMany creates the error to throw when other changes keep coming first. Default: the last failure
 */
export async function retryOnConflict<T>(work: (tries: number) => Promise<T>, tooMany?: () => Error): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work(tries)
    } catch (error) {
      if (!(error instanceof NothingChanged) && !isUniqueViolation(error)) throw error
      if (tries + 1 >= triesMax) throw tooMany?.() ?? error
    }
  }
}

/** Creates the error of a value that another record has. */
export const alreadyExists = (field: string, message: string): AppError =>
  fieldError('CONFLICT', field, message, { code: 'already_exists' })
