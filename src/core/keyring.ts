import type { MasterKey } from '../lib/seal.ts'

/** The keys of an instance, and what is done with them. */
export type Keyring = {
  readonly encryption: () => readonly MasterKey[]
  /** Newest first: the first signs, all verify. */
  readonly jwt: () => readonly MasterKey[]
  readonly integrationApiKey: string
  /** False once the file that the keys came from cannot be read any more. They stay in memory, and a start would find none. */
  atHand(): boolean
  /** All keys in force, as the text of a key file: for a backup, which seals it. */
  secretsText(): string
  /** Seals under the newest key. `about` names the owner and the purpose, as `shop_…/wallet`. */
  seal(plain: string, about: string): string
  /** Opens under whichever key sealed it. Throws when there is no such key, or `about` is another. */
  unseal(sealed: string, about: string): string
}
