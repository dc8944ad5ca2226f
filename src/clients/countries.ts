/** Which country an address is in, as a file of the operator's says (MaxMind's format, which others write too). */
import { readFileSync, statSync } from 'node:fs'
import { Reader } from 'mmdb-lib'
import { OperatorError } from '../core/errors.ts'
import { countryIn } from '../core/operator-guard.ts'
import type { Log } from '../lib/log.ts'
import { addressOf } from '../lib/networks.ts'

/** A file may have been replaced: looked at this often, when somebody asks. */
const lookAgainMs = 10_000
const fileBytesMax = 512 * 1024 * 1024
const ipv6 = 6

/** MaxMind and DB-IP say `country.iso_code`, IPinfo `country_code` or, in older files, the two letters as `country`. */
type Place = { country?: unknown; country_code?: unknown }

/** Stands for the file as it is: another has another. */
const stampOf = (file: string): string => {
  const { ino, size, mtimeMs } = statSync(file)
  return `${ino} ${size} ${mtimeMs}`
}

function open(file: string): (address: string) => string | undefined {
  if (statSync(file).size > fileBytesMax) throw new Error('larger than 512 MB')
  const bytes = readFileSync(file)
  const reader = new Reader<never>(bytes)
  const { nodeCount, searchTreeSize, ipVersion } = reader.metadata
  if (!Number.isSafeInteger(nodeCount) || !(searchTreeSize < bytes.length)) throw new Error('cut off')
  return (text) => {
    const address = addressOf(text)
    // A file of IPv4 alone would be asked for the first four bytes of the other kind.
    if (!address || (address.kind() === 'ipv6' && ipVersion !== ipv6)) return undefined
    const { country, country_code } = (reader.get(address.toString()) ?? {}) as Place
    const said = (country as { iso_code?: unknown } | null | undefined)?.iso_code ?? country_code ?? country
    return typeof said === 'string' ? countryIn(said) : undefined
  }
}

/**
 * Opens the file, and takes it up again when it was replaced. One that cannot be read then leaves the one before in use.
 * @param monotonic milliseconds of a clock that only goes forward
 * @returns the two letters of an address' country; undefined where the file does not say
 * @throws OperatorError where there is no such file, or it is of another kind
 */
export function openCountries(file: string, log: Log, monotonic: () => number): (address: string) => string | undefined {
  let find: ReturnType<typeof open>
  let stamp: string
  let lookedAt = monotonic()
  try {
    stamp = stampOf(file)
    find = open(file)
  } catch (cause) {
    throw new OperatorError(`GEO_DATABASE cannot be read: ${file} is not there, or no whole mmdb file`, { cause })
  }
  function lookAgain(): void {
    if (monotonic() - lookedAt < lookAgainMs) return
    lookedAt = monotonic()
    try {
      const now = stampOf(file)
      if (now === stamp) return
      // Also of one that cannot be read: it is tried again when it has changed.
      stamp = now
      find = open(file)
      log.info('geography.reloaded', { file })
    } catch (error) {
      log.warn('geography.not_reloaded', {
        file,
        error,
        advice: 'the countries of the file before are used on: put a whole file in its place',
      })
    }
  }
  return (address) => {
    lookAgain()
    try {
      return find(address)
    } catch (error) {
      log.warn('geography.unreadable', {
        file,
        error,
        advice: 'the file is damaged: whoever is asked for there counts as of no known country',
      })
      return undefined
    }
  }
}
