import type { Writer } from '../../../db/engine.ts'
import type { Processor } from '../../clients/processors/processor.ts'
import type { Deps } from '../../core/deps.ts'
import type { InstanceKeyDeps } from '../instance-key/index.ts'
import type { PaymentMethodDeps } from '../payment-method/index.ts'
import { createInboxStore } from './inbox-store.ts'
import { createPaymentStore } from './store.ts'

/** What payments need of others: who remembers what of orders, and the processors there are. */
type Given = Deps & {
  /** Called inside every write that changes what an order shows. */
  readonly orderChanged: (tx: Writer, orderId: string) => void
  readonly sandboxProcessor: Processor
}

/** @param processors besides the sandbox */
export const paymentParts = ({ db, orderChanged, sandboxProcessor }: Given, processors: readonly Processor[]) => ({
  paymentStore: createPaymentStore(db, orderChanged),
  inboxStore: createInboxStore(db),
  /** By name. */
  processors: new Map([sandboxProcessor, ...processors].map((processor) => [processor.name, processor])) as ReadonlyMap<string, Processor>,
})
export type PaymentDeps = InstanceKeyDeps & PaymentMethodDeps & ReturnType<typeof paymentParts>
