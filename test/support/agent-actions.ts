/** Generates random actions of platforms, shoppers and shops around agents' checkouts, as data. */
import fc from 'fast-check'
import { type Capability, capabilityNames, type Release, releases } from '../../src/lib/ucp/releases.ts'
import type { Transport } from './agent-platforms.ts'
import type { Fault } from './sandbox.ts'

/** What a platform sends for a checkout or cart. */
export type SessionContent = {
  lines: [variant: number, quantity: number][]
  hasBuyer: boolean
  destination: 'none' | 'country' | 'whole'
  hasOption: boolean
  code: string | null
}
/** Numbers are indexes (modulo the length) into the sessions, requests or payments that exist at that moment. */
export type AgentAction =
  | { do: 'create' | 'createCart'; market: number; platform: number; over: Transport; content: SessionContent }
  | { do: 'convert' | 'replace'; session: number; over: Transport; content: SessionContent }
  | { do: 'complete'; session: number; over: Transport; token: string; handler: string }
  | { do: 'read' | 'cancel'; session: number; over: Transport }
  | { do: 'repeat'; request: number; over: Transport; isOtherBody: boolean }
  | { do: 'steal'; session: number; platform: number; over: Transport; verb: 'get' | 'update' | 'complete' | 'cancel' }
  | { do: 'look' | 'details' | 'code' | 'pay' | 'take' | 'buy'; session: number }
  | { do: 'confirm'; payment: number }
  | { do: 'price' | 'stock' | 'rate' | 'tax'; market: number; amount: number }
  | { do: 'resume' | 'close' }
/**
 * Concurrent actions. The program is killed after `stopAfter` commits, unless that is 0. Then one session is read in
 * every way.
 */
export type AgentBatch = { advanceMs: number; faults: Fault[]; stopAfter: number; actions: AgentAction[]; compared: number | null }
export type PlatformPlan = { release: Release; capabilities: Capability[]; isProven: boolean }
export type AgentScenario = { platforms: PlatformPlan[]; batches: AgentBatch[] }

const minuteMs = 60_000
const one = fc.nat({ max: 1_000 })
const word = <const Word extends string>(...words: Word[]): fc.Arbitrary<Word> => fc.constantFrom(...words)
const over = word('REST', 'MCP')
/** Mostly content that can be bought. */
const content: fc.Arbitrary<SessionContent> = fc.record({
  lines: fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 3 }),
  hasBuyer: fc.constantFrom(true, true, true, true, true, true, true, true, false),
  destination: fc.constantFrom<SessionContent['destination']>(
    'whole',
    'whole',
    'whole',
    'whole',
    'whole',
    'whole',
    'whole',
    'country',
    'none',
  ),
  hasOption: fc.constantFrom(true, true, true, true, true, true, false),
  code: fc.constantFrom(null, null, 'FEW', 'each', 'free', 'WHOLE', 'none'),
})
const token = word('tok_success', 'tok_success', 'tok_success', 'tok_decline', 'tok_timeout', 'tok_action', 'tok_crash')

const create: fc.Arbitrary<AgentAction> = fc.record({ do: word('create'), market: one, platform: one, over, content })
const action: fc.Arbitrary<AgentAction> = fc.oneof(
  { weight: 5, arbitrary: create },
  { weight: 1, arbitrary: fc.record({ do: word('createCart'), market: one, platform: one, over, content }) },
  { weight: 4, arbitrary: fc.record({ do: word('convert', 'replace', 'replace'), session: one, over, content }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: word('complete'),
      session: one,
      over,
      token,
      handler: word('sandbox', 'sandbox', 'sandbox', 'sandbox', 'none'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: word('read', 'read', 'read', 'cancel'), session: one, over }) },
  { weight: 3, arbitrary: fc.record({ do: word('repeat'), request: one, over, isOtherBody: fc.constantFrom(false, false, false, true) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: word('steal'), session: one, platform: one, over, verb: word('get', 'update', 'complete', 'cancel') }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: word('look', 'look', 'details', 'details', 'code', 'pay', 'pay', 'pay', 'take', 'buy', 'buy'),
      session: one,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: word('confirm'), payment: one }) },
  { weight: 4, arbitrary: fc.record({ do: word('price', 'stock', 'rate', 'tax'), market: one, amount: fc.nat({ max: 3_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: word('resume', 'close') }) },
)

const batch: fc.Arbitrary<AgentBatch> = fc.record({
  advanceMs: fc.constantFrom(1_000, 1_000, 1_000, 1_000, 16_000, 61_000, 61 * minuteMs),
  faults: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fault[]>([]) },
    { weight: 1, arbitrary: fc.array(word<Fault>('none', 'unheard', 'unanswered'), { minLength: 1, maxLength: 4 }) },
  ),
  stopAfter: fc.oneof({ weight: 7, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 7 }) }),
  actions: fc.array(action, { minLength: 1, maxLength: 4 }),
  compared: fc.option(one, { freq: 3 }),
})

const plan: fc.Arbitrary<PlatformPlan> = fc.record({
  release: fc.constantFrom(...releases),
  capabilities: fc
    .subarray(capabilityNames.filter((name) => name !== 'checkout'))
    .chain((some) => fc.constantFrom([...capabilityNames], [...capabilityNames], ['checkout' as const, ...some])),
  isProven: fc.boolean(),
})

/** A scenario starts with some checkouts and continues batch by batch. */
export const agentScenario: fc.Arbitrary<AgentScenario> = fc.record({
  platforms: fc.array(plan, { minLength: 2, maxLength: 3 }),
  batches: fc
    .tuple(fc.array(create, { minLength: 3, maxLength: 6, size: 'max' }), fc.array(batch, { minLength: 10, maxLength: 24, size: 'max' }))
    .map(([creates, rest]) => [
      ...creates.map((first): AgentBatch => ({ advanceMs: 1_000, faults: [], stopAfter: 0, actions: [first], compared: null })),
      ...rest,
    ]),
})
