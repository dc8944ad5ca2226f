import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newTemporary } from '../db/temporary-files.ts'
import type { Config } from './config.ts'
import { OperatorError } from './core/errors.ts'
import type { Keyring } from './core/keyring.ts'
import { masterKey, seal, sealedBy, unseal } from './lib/seal.ts'

/** The secrets of an instance, newest first where a list rotates. */
export type Secrets = {
  jwt: string[]
  encryption: string[]
  integrationApiKey: string
  /** Whether a database knows these keys. Beside none, they then mean that it is somewhere else. */
  registered?: boolean
}

const fileName = 'keys.json'
const secretOf = () => randomBytes(32).toString('base64url')

/** The path of the key file of an embedded instance. */
export const keyFile = (config: Pick<Config, 'dataDir'>) => join(config.dataDir, fileName)

/** The key file's content, or undefined where there is none. Throws when it is not one. */
export function readKeyFile(file: string): Secrets | undefined {
  // Not existsSync, which takes a directory that is closed to us for one without the file.
  if (!statSync(file, { throwIfNoEntry: false })) return undefined
  const secrets = parseSecrets(readFileSync(file, 'utf8'))
  if (!secrets) throw new OperatorError(`${file} is not a key file of souk: restore it from your copy of the keys`)
  return secrets
}

/** The content of a key file, or undefined where the text is none. */
export function parseSecrets(text: string): Secrets | undefined {
  try {
    const { jwt, encryption, integrationApiKey, registered } = JSON.parse(text) as Partial<Secrets>
    if (!jwt?.length || !encryption?.length || !integrationApiKey) return undefined
    return { jwt, encryption, integrationApiKey, ...(registered === true ? { registered } : {}) }
  } catch {
    return undefined
  }
}

/** Writes the key file for its owner alone, whole or not at all; on the disk when it returns, because what it seals will be. */
export function writeKeyFile(file: string, secrets: Secrets): void {
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`, renameSync)
}

/** Makes the key file unless there is one: two processes that start at once end with the same keys. */
function createKeyFile(file: string, secrets: Secrets): void {
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`, (temporary) => {
    try {
      linkSync(temporary, file)
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  })
}

/** Writes a file for its owner alone under a name of its own, lets `place` give it the name, and waits for the disk. */
export function writePrivateFile(file: string, text: string, place: (temporary: string, file: string) => void = renameSync): void {
  // Made anew: what somebody else has put there would keep its owner and its mode.
  const temporary = newTemporary(file)
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true, flag: 'wx' })
    place(temporary, file)
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
 * The secrets in force: what the settings name, else the key file, which is made if `mayCreate`.
 * @throws Error that says what is missing
 */
export function loadSecrets(config: Config, mayCreate: boolean): Secrets {
  const embedded = config.databaseUrl.startsWith('file:')
  const given = { jwt: config.jwtSecrets, encryption: config.encryptionKeys }
  const complete = given.jwt.length > 0 && given.encryption.length > 0 && config.integrationApiKey !== undefined
  const file = keyFile(config)
  let stored = embedded ? readKeyFile(file) : undefined
  if (embedded && !stored && !complete) {
    if (!mayCreate) {
      throw new OperatorError(
        `${file} is missing, and without it the secrets in the database cannot be read: put it back from your copy of the keys, or set JWT_SECRET, ENCRYPTION_KEY and INTEGRATION_API_KEY`,
      )
    }
    createKeyFile(file, { jwt: [secretOf()], encryption: [secretOf()], integrationApiKey: secretOf() })
    stored = readKeyFile(file)
  }
  return {
    jwt: given.jwt.length > 0 ? [...given.jwt] : (stored?.jwt ?? []),
    encryption: given.encryption.length > 0 ? [...given.encryption] : (stored?.encryption ?? []),
    integrationApiKey: config.integrationApiKey ?? stored?.integrationApiKey ?? '',
  }
}

/** Adds a new first key of each rotating kind to the key file and returns the content. The old ones stay, to open old backups. */
export function rotateKeyFile(file: string): Secrets {
  const secrets = readKeyFile(file)
  if (!secrets)
    throw new OperatorError(
      `${file} is missing: with keys in the settings, put the new one first in ENCRYPTION_KEY and JWT_SECRET, as new,old`,
    )
  const rotated = { ...secrets, jwt: [secretOf(), ...secrets.jwt.slice(0, 1)], encryption: [secretOf(), ...secrets.encryption] }
  writeKeyFile(file, rotated)
  return rotated
}

/**
 * Refuses a key file that everybody on the machine may read.
 * @throws OperatorError with what to run
 */
export function refuseOpenKeyFile(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = keyFile(config)
  const mode = config.databaseUrl.startsWith('file:') ? statSync(file, { throwIfNoEntry: false })?.mode : undefined
  if (mode === undefined || (mode & readableByOthers) === 0) return
  throw new OperatorError(
    `${file} may be read by everybody on this machine (mode ${modeText(mode)}): run \`chmod 600 ${file}\`, and \`souk rotate-keys\` where somebody may have read it`,
  )
}

const readableByOthers = 0o004
const modeText = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')

/**
 * For a database that is missing or new: keys that some database knows are then a sign of a disk that is not mounted, or of a wrong path.
 * @throws OperatorError with what to do
 */
export function refuseOrphanedKeys(config: Pick<Config, 'dataDir'>, database: string): void {
  const file = keyFile(config)
  if (!readKeyFile(file)?.registered) return
  throw new OperatorError(
    `${database} is missing or empty, but the keys in ${file} belong to a database: see that the right disk is mounted and DATA_DIR and DATABASE_URL are right, or put a backup in place with \`souk restore\`. To begin anew, move ${file} away`,
  )
}

/** Notes in the key file that a database knows its keys. */
export function rememberRegistration(config: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const file = keyFile(config)
  const secrets = config.databaseUrl.startsWith('file:') ? readKeyFile(file) : undefined
  if (secrets && !secrets.registered) writeKeyFile(file, { ...secrets, registered: true })
}

/**
 * Holds the keys and notices when another process (`souk rotate-keys`) changed the file.
 * @param onFile told when the file can no longer be read, and when it can again
 */
export function createKeyring(config: Config, mayCreate: boolean, onFile: (atHand: boolean) => void = () => undefined): Keyring {
  const file = keyFile(config)
  const modified = () => {
    try {
      const stat = statSync(file, { throwIfNoEntry: false })
      return stat && `${stat.mtimeMs} ${stat.ino}`
    } catch {
      // A directory that was closed to us: as if the file were gone.
      return undefined
    }
  }
  const keysOf = (secrets: Secrets) => ({
    jwt: secrets.jwt.map((secret) => masterKey(secret, 'jwt')),
    encryption: secrets.encryption.map((secret) => masterKey(secret, 'encryption')),
  })
  // Before the file is read: a change in between is then seen by the next who asks.
  let readAt = modified()
  const secrets = loadSecrets(config, mayCreate)
  let keys = keysOf(secrets)
  const current = () => {
    const changed = modified()
    if (changed === readAt || changed === undefined) return keys
    try {
      const read = keysOf(loadSecrets(config, false))
      const inUse = keys.encryption[0]?.fingerprint
      // Of another instance: what we sealed would not open under them.
      if (!read.encryption.some(({ fingerprint }) => fingerprint === inUse)) return keys
      keys = read
      readAt = changed
    } catch {
      // Caught half-edited: the keys that we have go on, and the file is read again at the next use.
    }
    return keys
  }
  let toldAtHand = true
  return {
    atHand() {
      const before = readAt
      const atHand = before === undefined || (modified() !== undefined && current() === keys && modified() === readAt)
      if (atHand !== toldAtHand) onFile(atHand)
      toldAtHand = atHand
      return atHand
    },
    encryption: () => current().encryption,
    jwt: () => current().jwt,
    integrationApiKey: secrets.integrationApiKey,
    secretsText: () => JSON.stringify(loadSecrets(config, false)),
    seal(plain, about) {
      const [key] = current().encryption
      if (!key) throw new Error('no encryption key')
      return seal(key, plain, about, randomBytes(12))
    },
    unseal(sealed, about) {
      const version = sealedBy(sealed)
      const key = keys.encryption.find((one) => one.version === version) ?? current().encryption.find((one) => one.version === version)
      if (!key) throw new Error('the master key that sealed this is missing')
      return unseal(key, sealed, about)
    },
  }
}
