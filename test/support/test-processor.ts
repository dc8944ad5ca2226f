/** A processor with scripted responses, and a shop that is paid through it. */
import { type Processor, type ProcessorPayment, ProcessorUnavailable, sandboxCapabilities } from '../../src/clients/processors/processor.ts'
import type { TestApp } from './app.ts'
import { type Selling, sellingIn } from './selling.ts'

/** Capabilities of the sandbox. */
export const capabilities = sandboxCapabilities

/** Creates a processor whose calls fail, except those of the script. */
export function scriptedProcessor(script: Partial<Processor>): Processor {
  const unknown = async (): Promise<never> => {
    throw new ProcessorUnavailable('not in the script')
  }
  return {
    name: 'scripted',
    mode: 'TEST',
    capabilities,
    create: unknown,
    retrieve: unknown,
    capture: unknown,
    void: unknown,
    refund: unknown,
    retrieveRefund: async () => undefined,
    readMessage: unknown,
    probe: unknown,
    ...script,
  }
}
export const paymentAnswer = (state: ProcessorPayment['state'], amounts: Partial<ProcessorPayment> = {}): ProcessorPayment => ({
  reference: 'ref',
  state,
  authorized: 0,
  captured: 0,
  ...amounts,
})

export async function sellingWithProcessor(
  app: TestApp,
  script: Partial<Processor>,
  goods: { onHand?: number } = {},
): Promise<Selling & { buy(): ReturnType<Selling['checkout']> }> {
  const shop = await sellingIn(app, goods)
  ;(app.deps.processors as Map<string, Processor>).set('scripted', scriptedProcessor(script))
  return { ...shop, buy: async () => shop.checkout(await shop.cart(), { processor: 'scripted' }) }
}
