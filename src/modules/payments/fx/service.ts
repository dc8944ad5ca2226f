import type { Reader } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { OutgoingError } from '../../../core/outgoing.ts'
import { addDays, dayOf } from '../../../lib/day.ts'
import { currencies } from '../../../lib/money.ts'
import { fixedRateOf, pricedSpans, type Rate, type RatesAnswer, rateAgeMaxDays, readRates } from './domain.ts'
import { fxStore as store } from './store.ts'

export type FxDeps = Pick<Deps, 'config' | 'db' | 'clock' | 'log' | 'safeFetch'>
type From = Pick<Reader, 'select'>
type Span = { readonly from: string; readonly to: string }

const answerTimeoutMs = 10_000
/** Enough for a thousand currencies. */
const answerMaxBytes = 256 * 1024
const always: Span = { from: '0000-01-01', to: '9999-12-31' }
const floating = currencies.filter((currency) => fixedRateOf(currency) === undefined)

/**
 * Returns the value of a currency in US dollars on a day (UTC): its fixed rate, which needs no query, or the latest
 * stored rate of that day or the seven before. Undefined if there is none.
 */
export async function rateFor(from: From, currency: string, day: string): Promise<Rate | undefined> {
  const fixed = fixedRateOf(currency)
  if (fixed !== undefined) return { usdPerUnit: fixed, day }
  return store.latest(from, currency, { first: addDays(day, -rateAgeMaxDays), last: day })
}

/**
 * Does `rateFor` for rows that waited for a rate: without an earlier rate it returns the first of the seven days
 * after.
 */
export async function rateNear(from: From, currency: string, day: string): Promise<Rate | undefined> {
  return (await rateFor(from, currency, day)) ?? store.earliest(from, currency, { first: day, last: addDays(day, rateAgeMaxDays) })
}

/** Returns the days for which `rateNear` finds a rate. */
export async function daysWithRate(from: From, currency: string): Promise<readonly Span[]> {
  return fixedRateOf(currency) === undefined ? pricedSpans(await store.days(from, currency)) : [always]
}

type FetchResult =
  | { readonly outcome: 'off' | 'known' }
  | { readonly outcome: 'failed'; readonly source: string; readonly problem: string }
  | { readonly outcome: 'read'; readonly added: number }

/**
 * Fetches the rates of the day from FX_RATES_URL, unless they are known. An invalid answer, or none, is a warning.
 * Known rates never change: movements may be priced by them.
 */
export async function fetchRatesOfDay(deps: FxDeps): Promise<FetchResult> {
  const { config, db, clock, log } = deps
  const url = config.fxRatesUrl
  const today = dayOf(clock.now())
  if (url === undefined) return { outcome: 'off' }
  if (await store.hasDay(db.read, floating, today)) return { outcome: 'known' }
  // Only the host is logged and stored: the rest of the URL may hold a key.
  const source = new URL(url).host
  const read = await readFrom(deps, url, today)
  if ('problem' in read) {
    log.warn('fx.no_rates', { source, problem: read.problem })
    return { outcome: 'failed', source, problem: read.problem }
  }
  if (read.refused.length > 0) log.warn('fx.rates_refused', { source, currencies: read.refused })
  const rows = [...read.rates].map(([currency, usdPerUnit]) => ({ day: read.day, currency, usdPerUnit, source }))
  return { outcome: 'read', added: await db.write((tx) => store.insertNew(tx, rows)) }
}

async function readFrom({ safeFetch }: FxDeps, url: string, today: string): Promise<RatesAnswer> {
  try {
    const { status, bytes } = await safeFetch(url, {
      headers: { accept: 'application/json' },
      timeoutMs: answerTimeoutMs,
      bytesMax: answerMaxBytes,
      trusted: true,
    })
    return status === 200 ? readRates(new TextDecoder().decode(bytes), today) : { problem: `status ${status}` }
  } catch (error) {
    // Other errors may quote the URL.
    return { problem: error instanceof OutgoingError ? error.message : 'no answer' }
  }
}
