import type { MasterKey } from '../lib/seal.ts'

/** The secrets of an instance. */
export type Keyring = {
  readonly encryption: () => readonly MasterKey[]
  /** Newest first: the first one signs, all verify. */
  readonly jwt: () => readonly MasterKey[]
  readonly integrationApiKey: string
  /** Returns false once the key file is unreadable. The keys stay in memory, but the next start would fail. */
  isKeyFileReadable(): boolean
  /** Returns all active keys in the format of a key file, for backups, which seal it. */
  secretsText(): string
  /** Seals with the newest key. `about` names the owner and the purpose, such as `shop_…/wallet`. */
  seal(plain: string, about: string): string
  /** Opens with the key that sealed it. Throws if the key is missing or `about` differs. */
  unseal(sealed: string, about: string): string
}
