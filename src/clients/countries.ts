/** Looks up the country of an address in a file of the operator (MaxMind format). */
import { readFileSync, statSync } from 'node:fs'
import { Reader } from 'mmdb-lib'
import { OperatorError } from '../core/errors.ts'
import { countryIn } from '../core/operator-guard.ts'
import type { Log } from '../lib/log.ts'
import { addressOf } from '../lib/networks.ts'

/** How often a replaced file is detected, on use. */
const recheckMs = 10_000
const fileBytesMax = 512 * 1024 * 1024
const ipv6 = 6

/** MaxMind and DB-IP use `country.iso_code`; IPinfo uses `country_code` or, in older files, `country`. */
type CountryRecord = { country?: unknown; country_code?: unknown }

/** Identifies the current content of a file. */
const stampOf = (file: string): string => {
  const { ino, size, mtimeMs } = statSync(file)
  return `${ino} ${size} ${mtimeMs}`
}

function open(file: string): (address: string) => string | undefined {
  if (statSync(file).size > fileBytesMax) throw new Error('must not be larger than 512 MB')
  const bytes = readFileSync(file)
  const reader = new Reader<never>(bytes)
  const { nodeCount, searchTreeSize, ipVersion } = reader.metadata
  if (!Number.isSafeInteger(nodeCount) || !(searchTreeSize < bytes.length)) throw new Error('cut off')
  return (text) => {
    const address = addressOf(text)
    // An IPv4-only file would match the first four bytes of an IPv6 address.
    if (!address || (address.kind() === 'ipv6' && ipVersion !== ipv6)) return undefined
    const { country, country_code } = (reader.get(address.toString()) ?? {}) as CountryRecord
    const code = (country as { iso_code?: unknown } | null | undefined)?.iso_code ?? country_code ?? country
    return typeof code === 'string' ? countryIn(code) : undefined
  }
}

/**
 * Opens the file and reloads it if it was replaced. If the new one is unreadable, the old one stays in use.
 * @param monotonic milliseconds of a monotonic clock
 * @returns the two letters of an address' country; undefined if unknown
 * @throws OperatorError if the file is missing or invalid
 */
export function openCountries(file: string, log: Log, monotonic: () => number): (address: string) => string | undefined {
  let find: ReturnType<typeof open>
  let stamp: string
  let checkedAt = monotonic()
  try {
    stamp = stampOf(file)
    find = open(file)
  } catch (cause) {
    throw new OperatorError(`GEO_DATABASE can't be read: ${file} is missing, or not a complete mmdb file`, { cause })
  }
  function reloadIfChanged(): void {
    if (monotonic() - checkedAt < recheckMs) return
    checkedAt = monotonic()
    try {
      const now = stampOf(file)
      if (now === stamp) return
      // Also set for an unreadable file, which is tried again once it changes.
      stamp = now
      find = open(file)
      log.info('geography.reloaded', { file })
    } catch (error) {
      log.warn('geography.not_reloaded', {
        file,
        error,
        advice: 'the previous content stays in use: replace the file with a complete one',
      })
    }
  }
  return (address) => {
    reloadIfChanged()
    try {
      return find(address)
    } catch (error) {
      log.warn('geography.unreadable', {
        file,
        error,
        advice: 'the file is damaged: replace it. Until then this address has no known country',
      })
      return undefined
    }
  }
}
