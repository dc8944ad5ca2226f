/** The connection of processor clients in tests, and their expected failures. */
import { inspect } from 'node:util'
import { ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import type { Fault } from './stand-in.ts'

/** Real sockets, and a deadline that suffices on slow machines. Tests of the deadline itself use `shortMs`. */
export const realPort = { fetch: createSafeFetch({ allowedNetworks: [] }), trusted: true, timeoutMs: 60_000 }
export const shortMs = 250

export type Failure = { refused: string } | { unavailable: { neverSent: boolean; counts: boolean } }

/** Returns how a call failed. Throws for other errors, and if the call succeeds. */
export async function failure(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    (value) => new Error(`nothing failed: ${inspect(value)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof ProcessorRefused) return { refused: error.code }
  if (error instanceof ProcessorUnavailable) return { unavailable: { neverSent: error.neverSent, counts: error.counts } }
  throw error
}

/** Returns the text of a call's error as a log would show it, with its causes. */
export const inspectError = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    (error: unknown) => inspect(error, { depth: 20, showHidden: true }),
  )

/** A timeout, a network error or 5xx. */
export const unknown = { unavailable: { neverSent: false, counts: true } } satisfies Failure
/** The response does not match the processor's API. The breaker does not count it. */
export const unknownAnswer = { unavailable: { neverSent: false, counts: false } } satisfies Failure
export const notSent = { unavailable: { neverSent: true, counts: false } } satisfies Failure

const outages: readonly Fault[] = [
  'silent',
  'lost',
  'unreached',
  'half',
  ...[500, 502, 503, 504].map((status): Fault => ({ status, json: {} })),
  () => ({ status: 500, json: '<html>' }),
]

/** Returns whether a fault is an outage of the processor, which its breaker counts. */
export const isOutage = (fault: Fault): boolean => outages.includes(fault)

/** Faults after which it is unknown whether the request had an effect. */
export const unknownOutcomes: readonly Fault[] = [
  ...outages,
  'garbage',
  ...[408, 425].map((status): Fault => ({ status, json: {} })),
  // Pages of a proxy.
  ...[400, 404, 405, 413, 422].map(
    (status): Fault => ({ status, json: '<html>', headers: { 'content-type': 'text/html; charset=utf-8' } }),
  ),
  () => ({ status: 200, json: '{"id": "cut o' }),
  { status: 200, json: 'null' },
  { status: 200, json: '[]' },
  { status: 200, json: '' },
  { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
]

export const describeFault = (fault: Fault) =>
  typeof fault === 'string' ? fault : JSON.stringify(typeof fault === 'function' ? 'done' : fault)
