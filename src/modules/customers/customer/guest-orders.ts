import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import type { Customer } from './domain.ts'

/** A customer with a proven address. */
export type ProvenCustomer = Pick<Customer, 'id' | 'shopId' | 'email'>

/** A module's records of guests. */
export type GuestOrders = {
  readonly exist: (read: Pick<Reader, 'select'>, customer: ProvenCustomer) => Promise<boolean>
  /** Joins some records inside a write. Returns whether there may be more. */
  readonly join: (tx: Writer, customer: ProvenCustomer, actor: Actor) => Promise<boolean>
}
