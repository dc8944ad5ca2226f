import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import type { Customer } from './domain.ts'

/** A customer who has shown that they read what goes to their address. */
export type Proven = Pick<Customer, 'id' | 'shopId' | 'email'>

/** What was bought in a shop with an address, and as a guest. */
export type GuestOrders = {
  readonly areThere: (read: Pick<Reader, 'select'>, customer: Proven) => Promise<boolean>
  /** Makes some of them the customer's, inside a write; whether there may be more. */
  readonly join: (tx: Writer, customer: Proven, actor: Actor) => Promise<boolean>
}
