/** Calls to Stripe: form encoding, errors, idempotency keys and lists. */
import type { SafeFetch } from '../../../core/outgoing.ts'
import { listAt, requireValue, textAt, valueAt } from '../answers.ts'
import { type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort } from '../call.ts'
import { ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../processor.ts'
import { declineOf } from './answers.ts'

export type Fields = Readonly<Record<string, string | number | boolean>>
type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly fields?: Fields; readonly key?: string }
/** With status 200, 400, 402 or 404. `replayed`: stored under this idempotency key before, and maybe out of date. */
export type Answer = CallAnswer & { readonly replayed: boolean }

/** Pinned: otherwise the account's version decides what fields mean. */
export const stripeVersion = '2026-10-28.endive'
/** Keys to try when Stripe's own failure is stored under one. */
const keysMax = 4
const pageSize = 100
/** 10,000 items. For an older one the outcome stays open: it is not reported as missing. */
const pagesMax = 100

/** A stored failure of Stripe's own (5xx): this key never succeeds. */
class StoredFailure extends ProcessorUnavailable {}
/** The key is unknown or lacks the permission: nothing happened. */
export class NotAllowed extends ProcessorUnavailable {}
/** The key was used for another request. */
class KeyTaken extends ProcessorUnavailable {}

/** Creates the calls of one account. */
export function createStripeCalls({ secretKey, apiUrl }: { secretKey: string; apiUrl: string }, port: ProcessorPort) {
  const baseUrl = apiUrl.replace(/\/+$/, '')

  /** @throws ProcessorUnavailable for answers that say nothing about the object */
  async function call({ method, path, fields = {}, key }: Request): Promise<Answer> {
    let replayed = false
    // Read here, because of a 5xx only the status is passed on.
    const fetch: SafeFetch = async (url, options) => {
      const answer = await port.fetch(url, options)
      replayed = answer.headers.get('idempotent-replayed') === 'true'
      return answer
    }
    const form = new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString()
    const headers = {
      authorization: `Bearer ${secretKey}`,
      'stripe-version': stripeVersion,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    }
    const sent =
      method === 'POST'
        ? { url: baseUrl + path, headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body: form }
        : { url: `${baseUrl}${path}${form && `?${form}`}`, headers }
    const answer = await callProcessor({ ...port, fetch }, { method, ...sent }).catch((error: unknown) => {
      throw replayed && error instanceof ProcessorUnavailable ? new StoredFailure(error.message, { cause: error }) : error
    })
    assertConclusive(answer)
    return { ...answer, replayed }
  }

  /**
   * Sends a request that must take effect once, under keys that follow from ours. Stripe repeats a stored response for
   * a day, even a failure of its own. After such a failure, `findEffect` searches for an effect; without one the next
   * key is used.
   */
  async function postOnce<Found extends object>(
    request: Request & { readonly key: string },
    findEffect: () => Promise<Found | undefined>,
  ): Promise<{ readonly answer: Answer } | { readonly found: Found }> {
    for (let at = 1; at <= keysMax; at++) {
      try {
        return { answer: await call({ ...request, key: at === 1 ? request.key : `${request.key}-${at}` }) }
      } catch (error) {
        if (!(error instanceof StoredFailure || error instanceof KeyTaken)) throw error
        const found = await findEffect()
        if (found !== undefined) return { found }
        // The effect of that other request is unknown, and another key could cause a second one.
        if (error instanceof KeyTaken) throw error
      }
    }
    throw new ProcessorUnavailable('the processor repeats its own failure')
  }

  /**
   * Searches a list, newest first.
   * @returns undefined if it has no such item, or does not exist
   */
  async function findIn(path: string, fields: Fields, matches: (item: unknown) => boolean): Promise<object | undefined> {
    let after: Fields = {}
    for (let page = 0; page < pagesMax; page++) {
      const answer = await call({ method: 'GET', path, fields: { ...fields, limit: pageSize, ...after } })
      if (isMissing(answer)) return undefined
      if (answer.status !== 200) throw refusal(answer)
      if (!Array.isArray(valueAt(answer.json, 'data'))) throw new UnknownAnswer('no list')
      const items = listAt(answer.json, 'data')
      const found = items.find(matches)
      if (found !== undefined) return found as object
      if (valueAt(answer.json, 'has_more') !== true) return undefined
      after = { starting_after: requireValue(textAt(items.at(-1), 'id'), 'id of a list item') }
    }
    throw new ProcessorUnavailable('the list is too long to find it')
  }

  return { call, postOnce, findIn }
}

/** @throws ProcessorUnavailable for answers that say nothing about the request */
function assertConclusive({ status, json }: CallAnswer): void {
  if (status === 200) {
    if (typeof json !== 'object' || json === null) throw new UnknownAnswer('no JSON object')
    return
  }
  const error = valueAt(json, 'error')
  if (status === 401 || status === 403) throw new NotAllowed(`the processor answered ${status}`, { neverSent: true })
  if (status === 409 || status === 429) throw inconclusiveError(status)
  if (status === 400 && textAt(error, 'code') === 'rate_limit') throw inconclusiveError(429)
  if (textAt(error, 'type') === 'idempotency_error') throw new KeyTaken('the idempotency key was used for something else')
  // Only these are Stripe's. A 404 of a proxy does not mean that the payment is missing.
  if (![400, 402, 404].includes(status) || textAt(error, 'type') === undefined) throw new UnknownAnswer(`status ${status} without a reason`)
}

/** Returns whether the requested object does not exist. */
export const isMissing = ({ status, json }: CallAnswer): boolean =>
  (status === 404 || status === 400) && textAt(json, 'error', 'code') === 'resource_missing'

/** Returns the refusal of an answer, with its code. */
export const refusal = ({ json }: CallAnswer): ProcessorRefused => new ProcessorRefused(declineOf(valueAt(json, 'error')) ?? 'refused')
