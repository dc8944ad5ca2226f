import { readFileSync, statSync } from 'node:fs'
import { OperatorError } from '../core/errors.ts'
import { signingKey } from '../lib/signing-key.ts'
import type { Input } from './command.ts'

/** A key has 66 characters; a larger file is another one and is not read. */
const fileMaxBytes = 1_024
const othersMask = 0o077

/**
 * Returns the signing key from the file of --key-file or from the settings; undefined if there is none.
 * @throws OperatorError, which never contains the key
 */
export function signingKeyOf({ values, config }: Pick<Input, 'values' | 'config'>): `0x${string}` | undefined {
  const file = values.get('key-file')
  if (file === undefined) return config().chainSigningKey
  const stats = statSync(file)
  if (!stats.isFile()) throw new OperatorError(`Not a file: ${file}`)
  if ((stats.mode & othersMask) !== 0)
    throw new OperatorError(`Other users can read ${file}: run \`chmod 600 ${file}\`, and use another key if someone may have read it`)
  try {
    return signingKey(stats.size <= fileMaxBytes ? readFileSync(file, 'utf8') : '')
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error
    throw new OperatorError(`${file} must contain a private key only: 64 hexadecimal digits, with or without 0x`)
  }
}
