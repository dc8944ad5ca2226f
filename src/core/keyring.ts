import type { MasterKey } from '../lib/seal.ts'

/** The keys of an instance, and what is done with them. */
export type Keyring = {
  readonly encryption: () => readonly MasterKey[]
  /** Newest first: the first signs, all verify. */
  readonly jwt: () => readonly MasterKey[]
  readonly integrationApiKey: string
  /** Seals under the newest key. `about` names the owner and the purpose, as `shop_…/wallet`. */
  seal(plain: string, about: string): string
  /** Opens under whichever key sealed it. Throws when there is no such key, or `about` is another. */
  unseal(sealed: string, about: string): string
}
