/** Processors outside, as data that outlives a program: each keeps other promises, and all of a program's accounts lead to them. */
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

/** What is true outside. */
export type ProcessorStates = {
  at: Record<ProcessorName, ProcessorState>
  /** Which of them begin payments, and never answer that. */
  mute: ProcessorName[]
  /** Whether shoppers whose page shows a payment make it. */
  isPaid: boolean
  /** What the DNS has, whatever it is asked. */
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

/** Has every account of a program lead to these processors, which others may lead to as well. */
export function simulateProcessors({ deps }: Pick<TestApp, 'deps'>, states: ProcessorStates) {
  const at = Object.fromEntries(names.map((name) => [name, simulateProcessor(promised[name], { name, state: states.at[name] })])) as Record<
    ProcessorName,
    SimulatedProcessor
  >
  let around: Around = (call) => call()

  function heard(name: ProcessorName): Processor {
    const processor = at[name].processor
    const calling =
      <Told, Answer>(call: (told: Told) => Promise<Answer>) =>
      (told: Told): Promise<Answer> => {
        const stood = JSON.stringify([states.at[name].there, [...states.at[name].given]])
        return around(
          () => call(told),
          () => stood !== JSON.stringify([states.at[name].there, [...states.at[name].given]]),
        )
      }
    const { create, retrieve, capture, void: give, refund, retrieveRefund } = processor
    return {
      ...processor,
      create: calling(async (payment) => {
        const answer = await create(payment)
        if (states.mute.includes(name)) throw new ProcessorUnavailable('lost on its way', { counts: false })
        return answer
      }),
      retrieve: calling(retrieve),
      capture: calling(capture),
      void: calling(give),
      refund: calling(refund),
      retrieveRefund: calling(retrieveRefund),
    }
  }
  const clients = Object.fromEntries(names.map((name) => [name, heard(name)])) as Record<ProcessorName, Processor>
  Object.assign(deps.processorClients, {
    of: ({ processor }: { processor: ProcessorName }) => clients[processor],
    open: ({ processor }: { processor: ProcessorName }) => clients[processor],
  })
  return {
    states,
    at,
    /** Puts something around every call that could change something there. */
    around(this: void, put: Around): void {
      around = put
    },
    /**
     * What takes its time is done, and shoppers pay and fetch what is theirs.
     * @param known by which names payments are known here: only those pages has anybody seen
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

/** All of it as one processor's. */
export const mergedState = ({ at }: ProcessorStates): ProcessorState => ({
  there: names.flatMap((name) => at[name].there),
  given: new Map(names.flatMap((name) => [...at[name].given])),
})
