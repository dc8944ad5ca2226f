import { isUniqueViolation } from '../../db/engine.ts'
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

/** Creates the error of a value that another record has. */
export const alreadyExists = (field: string, message: string): AppError =>
  fieldError('CONFLICT', field, message, { code: 'already_exists' })
