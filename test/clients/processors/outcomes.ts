/** How calls of payment processors are made in tests, and what their failures are compared by. */
import { inspect } from 'node:util'
import { ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import type { Fault } from './stand-in.ts'

/** Real sockets, and a deadline that no machine is too slow for. Only what is waited out gets a shorter one. */
export const realPort = { fetch: createSafeFetch({ allowedNetworks: [] }), trusted: true, timeoutMs: 60_000 }
export const shortMs = 250

export type Failure = { refused: string } | { unavailable: { neverSent: boolean; counts: boolean } }

/** How a call failed. Whatever else is thrown, or not, fails the test. */
export async function failure(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    (value) => new Error(`nothing failed: ${inspect(value)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof ProcessorRefused) return { refused: error.code }
  if (error instanceof ProcessorUnavailable) return { unavailable: { neverSent: error.neverSent, counts: error.counts } }
  throw error
}

/** All that an error would tell a log, causes included. */
export const toldBy = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    (error: unknown) => inspect(error, { depth: 20, showHidden: true }),
  )

/** A timeout, a network error or 5xx. */
export const unknown = { unavailable: { neverSent: false, counts: true } } satisfies Failure
/** The processor answered, but not as its API says: the breaker does not count it. */
export const unknownAnswer = { unavailable: { neverSent: false, counts: false } } satisfies Failure
export const nothingSaid = { unavailable: { neverSent: true, counts: false } } satisfies Failure

const outages: readonly Fault[] = [
  'silent',
  'lost',
  'unreached',
  'half',
  ...[500, 502, 503, 504].map((status): Fault => ({ status, json: {} })),
  () => ({ status: 500, json: '<html>' }),
]

/** Whether a fault is an outage of the processor, which its breaker counts. */
export const isOutage = (fault: Fault): boolean => outages.includes(fault)

/** Every fault that leaves open whether a request had an effect. */
export const silences: readonly Fault[] = [
  ...outages,
  'garbage',
  ...[408, 425].map((status): Fault => ({ status, json: {} })),
  () => ({ status: 200, json: '{"id": "cut o' }),
  { status: 200, json: 'null' },
  { status: 200, json: '[]' },
  { status: 200, json: '' },
  { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
]

export const wordFor = (fault: Fault) => (typeof fault === 'string' ? fault : JSON.stringify(typeof fault === 'function' ? 'done' : fault))
