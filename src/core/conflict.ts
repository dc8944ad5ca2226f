import { isUniqueViolation } from '../../db/engine.ts'
import { AppError } from './errors.ts'

/**
 * Turns a unique violation into a CONFLICT in the `catch` of a write; rethrows other errors.
 * @param message names the field and the owner of the value
 */
export const refuseTaken =
  (message: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new AppError('CONFLICT', message)
    throw error
  }
