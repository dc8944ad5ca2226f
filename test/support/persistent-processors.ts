/** Simulates all processors with state that survives a program. Each has other guarantees. */
import { type Processor, ProcessorUnavailable } from '../../src/clients/processors/processor.ts'
import type { ProcessorName } from '../../src/modules/payments/payment-method/domain.ts'
import type { TestApp } from './app.ts'
import {
  emptyProcessorState,
  type ProcessorGuarantees,
  type ProcessorState,
  type SimulatedProcessor,
  simulateProcessor,
} from './random-processor.ts'

/** As the six promise it. */
const promised = {
  stripe: { capturesItself: false, repeats: true, findable: true, refunds: 'any', isAsynchronous: false, canForbid: true },
  tap: { capturesItself: false, repeats: true, findable: false, refunds: 'any', isAsynchronous: false, canForbid: false },
  checkout: { capturesItself: false, repeats: false, findable: true, refunds: 'any', isAsynchronous: true, canForbid: false },
  paypal: { capturesItself: false, repeats: true, findable: false, refunds: 'any', isAsynchronous: true, canForbid: false },
  qpay: { capturesItself: true, repeats: false, findable: false, refunds: 'whole', isAsynchronous: false, canForbid: true },
  btcpay: { capturesItself: true, repeats: false, findable: true, refunds: 'claim', isAsynchronous: true, canForbid: false },
} as const satisfies Record<ProcessorName, ProcessorGuarantees>
const names = Object.keys(promised) as ProcessorName[]

/** State of all processors and of the DNS. */
export type ProcessorStates = {
  at: Record<ProcessorName, ProcessorState>
  /** Processors that create payments but never respond to the request. */
  mute: ProcessorName[]
  /** Whether shoppers pay the payments that their page shows. */
  isPaid: boolean
  /** TXT records that the DNS returns for every name. */
  txt: string[]
}
export const newProcessorStates = (): ProcessorStates => ({
  at: Object.fromEntries(names.map((name) => [name, emptyProcessorState()])) as ProcessorStates['at'],
  mute: [],
  isPaid: false,
  txt: [],
})

type Around = <Answer>(call: () => Promise<Answer>, hasChanged: () => boolean) => Promise<Answer>

export type SimulatedProcessors = ReturnType<typeof simulateProcessors>

/** Connects every processor account of an app to these states. Several apps can share them. */
export function simulateProcessors({ deps }: Pick<TestApp, 'deps'>, states: ProcessorStates) {
  const at = Object.fromEntries(names.map((name) => [name, simulateProcessor(promised[name], { name, state: states.at[name] })])) as Record<
    ProcessorName,
    SimulatedProcessor
  >
  let around: Around = (call) => call()

  function clientOf(name: ProcessorName): Processor {
    const processor = at[name].processor
    const calling =
      <Argument, Answer>(call: (argument: Argument) => Promise<Answer>) =>
      (argument: Argument): Promise<Answer> => {
        const stateBefore = JSON.stringify([states.at[name].storedPayments, [...states.at[name].storedRefunds]])
        return around(
          () => call(argument),
          () => stateBefore !== JSON.stringify([states.at[name].storedPayments, [...states.at[name].storedRefunds]]),
        )
      }
    const { create, retrieve, capture, void: voidPayment, refund, retrieveRefund } = processor
    return {
      ...processor,
      create: calling(async (payment) => {
        const answer = await create(payment)
        if (states.mute.includes(name)) throw new ProcessorUnavailable('lost on its way', { counts: false })
        return answer
      }),
      retrieve: calling(retrieve),
      capture: calling(capture),
      void: calling(voidPayment),
      refund: calling(refund),
      retrieveRefund: calling(retrieveRefund),
    }
  }
  const clients = Object.fromEntries(names.map((name) => [name, clientOf(name)])) as Record<ProcessorName, Processor>
  Object.assign(deps.processorClients, {
    of: ({ processor }: { processor: ProcessorName }) => clients[processor],
    open: ({ processor }: { processor: ProcessorName }) => clients[processor],
  })
  return {
    states,
    at,
    /** Wraps every call that can change a processor's state. */
    around(this: void, put: Around): void {
      around = put
    },
    /**
     * Settles pending work. Shoppers pay, if `isPaid`, and claim their refunds.
     * @param known processor references that are stored: a shopper has seen only their pages
     */
    passTime(known: readonly string[]): void {
      for (const name of names) {
        if (states.isPaid) for (const reference of known) at[name].pay(reference, 1)
        at[name].settle()
        at[name].claim()
      }
    },
  }
}

/** Merges the states of all processors into one. */
export const mergedState = ({ at }: ProcessorStates): ProcessorState => ({
  storedPayments: names.flatMap((name) => at[name].storedPayments),
  storedRefunds: new Map(names.flatMap((name) => [...at[name].storedRefunds])),
})
