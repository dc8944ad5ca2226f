import { invalidField } from '../../../core/errors.ts'
import { passwordLength } from './domain.ts'

/** Loads the list when the first password is chosen, so that it does not slow the start. */
async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  // Shorter passwords are refused for their length.
  return new Set((dictionary['passwords-common'] as string[]).filter((word) => word.length >= passwordLength.minLength))
}

let commonPasswords: Promise<ReadonlySet<string>> | undefined

/** Returns whether a password is in zxcvbn's list of common passwords, ignoring case. */
export async function isCommonPassword(password: string): Promise<boolean> {
  commonPasswords ??= readList()
  return (await commonPasswords).has(password.toLowerCase())
}

/** @throws AppError INVALID for a common password */
export async function assertUncommonPassword(password: string): Promise<void> {
  if (await isCommonPassword(password)) throw invalidField('password', 'too common: choose another password')
}
