import { isUniqueViolation } from '../../db/engine.ts'
import { AppError } from './errors.ts'

/**
 * For the `catch` of a write: says that somebody has that name already; other errors go on as they are.
 * @param message names the field, and whose it is
 */
export const refuseTaken =
  (message: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new AppError('CONFLICT', message)
    throw error
  }
