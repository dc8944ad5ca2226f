import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newTemporary } from '../db/temporary-files.ts'
import type { Config } from './config.ts'
import { OperatorError } from './core/errors.ts'
import type { Keyring } from './core/keyring.ts'
import { keyVersionOf, masterKey, seal, unseal } from './lib/seal.ts'

/** The secrets of an instance; lists are ordered newest first. */
export type Secrets = {
  jwt: string[]
  encryption: string[]
  integrationApiKey: string
  /** Whether a database uses these keys. If the database is missing then, it is elsewhere. */
  registered?: boolean
}

const fileName = 'keys.json'
const secretOf = () => randomBytes(32).toString('base64url')

/** Returns the path of the key file of an embedded instance. */
export const keyFile = (config: Pick<Config, 'dataDir'>) => join(config.dataDir, fileName)

/** Reads the key file; undefined without one. Throws if it is invalid. */
export function readKeyFile(file: string): Secrets | undefined {
  // Not existsSync, which returns false for an unreadable directory.
  if (!statSync(file, { throwIfNoEntry: false })) return undefined
  const secrets = parseSecrets(readFileSync(file, 'utf8'))
  if (!secrets) throw new OperatorError(`${file} is not a key file of souk: restore it from your copy of the keys`)
  return secrets
}

/** Parses a key file; undefined if it is invalid. */
export function parseSecrets(text: string): Secrets | undefined {
  try {
    const { jwt, encryption, integrationApiKey, registered } = JSON.parse(text) as Partial<Secrets>
    if (!jwt?.length || !encryption?.length || !integrationApiKey) return undefined
    return { jwt, encryption, integrationApiKey, ...(registered === true ? { registered } : {}) }
  } catch {
    return undefined
  }
}

/** Writes the key file atomically and durably for its owner only, because data will be sealed with it. */
export function writeKeyFile(file: string, secrets: Secrets): void {
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`, renameSync)
}

/** Creates the key file unless it exists: two concurrent starts end with the same keys. */
function createKeyFile(file: string, secrets: Secrets): void {
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`, (temporary) => {
    try {
      linkSync(temporary, file)
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  })
}

/** Writes a private file under a temporary name, lets `place` rename it, and syncs. */
export function writePrivateFile(file: string, text: string, moveIntoPlace: (temporary: string, file: string) => void = renameSync): void {
  // Created anew, because an existing file would keep its owner and mode.
  const temporary = newTemporary(file)
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true, flag: 'wx' })
    moveIntoPlace(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Loads the secrets from the settings or the key file, which is created if `mayCreate`.
 * @throws Error that names what is missing
 */
export function loadSecrets(config: Config, mayCreate: boolean): Secrets {
  const embedded = config.databaseUrl.startsWith('file:')
  const configured = { jwt: config.jwtSecrets, encryption: config.encryptionKeys }
  const complete = configured.jwt.length > 0 && configured.encryption.length > 0 && config.integrationApiKey !== undefined
  const file = keyFile(config)
  let stored = embedded ? readKeyFile(file) : undefined
  if (embedded && !stored && !complete) {
    if (!mayCreate) {
      throw new OperatorError(
        `${file} is missing, and the secrets in the database can't be read without it: restore it from your copy of the keys, or set JWT_SECRET, ENCRYPTION_KEY and INTEGRATION_API_KEY`,
      )
    }
    createKeyFile(file, { jwt: [secretOf()], encryption: [secretOf()], integrationApiKey: secretOf() })
    stored = readKeyFile(file)
  }
  return {
    jwt: configured.jwt.length > 0 ? [...configured.jwt] : (stored?.jwt ?? []),
    encryption: configured.encryption.length > 0 ? [...configured.encryption] : (stored?.encryption ?? []),
    integrationApiKey: config.integrationApiKey ?? stored?.integrationApiKey ?? '',
  }
}

/** Adds a new first key of each kind to the key file and returns the content. Old keys remain, to open old backups. */
export function rotateKeyFile(file: string): Secrets {
  const secrets = readKeyFile(file)
  if (!secrets)
    throw new OperatorError(
      `${file} is missing: with keys in the settings, add the new key first in ENCRYPTION_KEY and JWT_SECRET, as new,old`,
    )
  const rotated = { ...secrets, jwt: [secretOf(), ...secrets.jwt.slice(0, 1)], encryption: [secretOf(), ...secrets.encryption] }
  writeKeyFile(file, rotated)
  return rotated
}

/**
 * Refuses a key file that everyone on the machine can read.
 * @throws OperatorError with the command to run
 */
export function refuseOpenKeyFile(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = keyFile(config)
  const mode = config.databaseUrl.startsWith('file:') ? statSync(file, { throwIfNoEntry: false })?.mode : undefined
  if (mode === undefined || (mode & readableByOthers) === 0) return
  throw new OperatorError(
    `All users of this machine can read ${file} (mode ${modeText(mode)}): run \`chmod 600 ${file}\`, and \`souk rotate-keys\` if someone may have read it`,
  )
}

const readableByOthers = 0o004
const modeText = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')

/**
 * Refuses a missing or new database if the keys belong to a known one: the disk may not be mounted, or the path may be
 * wrong.
 * @throws OperatorError with advice
 */
export function refuseOrphanedKeys(config: Pick<Config, 'dataDir'>, database: string): void {
  const file = keyFile(config)
  if (!readKeyFile(file)?.registered) return
  throw new OperatorError(
    `${database} is missing or empty, but ${file} contains the keys of a database. Check the disk, DATA_DIR and DATABASE_URL, or restore a backup with \`souk restore\`. To start from scratch, move ${file} away`,
  )
}

/** Records in the key file that a database uses its keys. */
export function rememberRegistration(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = keyFile(config)
  const secrets = config.databaseUrl.startsWith('file:') ? readKeyFile(file) : undefined
  if (secrets && !secrets.registered) writeKeyFile(file, { ...secrets, registered: true })
}

/**
 * Creates a keyring that reloads the key file after `souk rotate-keys`.
 * @param onFile called when the file becomes unreadable, and when it is readable again
 */
export function createKeyring(config: Config, mayCreate: boolean, onFile: (atHand: boolean) => void = () => undefined): Keyring {
  const file = keyFile(config)
  const readFileStamp = () => {
    try {
      const stat = statSync(file, { throwIfNoEntry: false })
      return stat && `${stat.mtimeMs} ${stat.ino}`
    } catch {
      // An unreadable directory counts as a missing file.
      return undefined
    }
  }
  const keysOf = (secrets: Secrets) => ({
    jwt: secrets.jwt.map((secret) => masterKey(secret, 'jwt')),
    encryption: secrets.encryption.map((secret) => masterKey(secret, 'encryption')),
  })
  // Before the file is read, so that the next call sees a concurrent change.
  let readAt = readFileStamp()
  const secrets = loadSecrets(config, mayCreate)
  let keys = keysOf(secrets)
  const currentKeys = () => {
    const changed = readFileStamp()
    if (changed === readAt || changed === undefined) return keys
    try {
      const read = keysOf(loadSecrets(config, false))
      const inUse = keys.encryption[0]?.fingerprint
      // Keys of another instance could not open what we sealed.
      if (!read.encryption.some(({ fingerprint }) => fingerprint === inUse)) return keys
      keys = read
      readAt = changed
    } catch {
      // A half-edited file: keep the current keys and read it again at the next use.
    }
    return keys
  }
  let toldAtHand = true
  return {
    isKeyFileReadable() {
      const before = readAt
      const atHand = before === undefined || (readFileStamp() !== undefined && currentKeys() === keys && readFileStamp() === readAt)
      if (atHand !== toldAtHand) onFile(atHand)
      toldAtHand = atHand
      return atHand
    },
    encryption: () => currentKeys().encryption,
    jwt: () => currentKeys().jwt,
    integrationApiKey: secrets.integrationApiKey,
    secretsText: () => JSON.stringify(loadSecrets(config, false)),
    seal(plain, about) {
      const [key] = currentKeys().encryption
      if (!key) throw new Error('no encryption key')
      return seal(key, plain, about, randomBytes(12))
    },
    unseal(sealed, about) {
      const version = keyVersionOf(sealed)
      const key = keys.encryption.find((one) => one.version === version) ?? currentKeys().encryption.find((one) => one.version === version)
      if (!key) throw new Error('the master key that sealed this is missing')
      return unseal(key, sealed, about)
    },
  }
}
