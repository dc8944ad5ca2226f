import { AppError } from '../../../core/errors.ts'
import { passwordLength } from './domain.ts'

/** Loaded when the first password is chosen: the program starts without it, and most of its lists are not ours. */
async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  // What is shorter is refused for that.
  return new Set((dictionary['passwords-common'] as string[]).filter((word) => word.length >= passwordLength.minLength))
}

let list: Promise<ReadonlySet<string>> | undefined

/** Whether a password is one of those that people choose most, whatever its capitals; from the lists of zxcvbn. */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= readList()
  return (await list).has(password.toLowerCase())
}

/** @throws AppError INVALID for a password that everybody would try first */
export async function assertUncommon(password: string): Promise<void> {
  if (await isCommonPassword(password)) throw new AppError('INVALID', 'password (body): one of the most common passwords, choose another')
}
