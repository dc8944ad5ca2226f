/** Exchange rates of the demo's year. They move slowly around real rates. */

import { dayMs, dayOf } from '../lib/day.ts'
import type { Currency } from '../lib/money.ts'
import { fetchRatesOfDay } from '../modules/payments/fx/index.ts'
import type { AppDeps } from '../providers.ts'
import { depsAt } from './past-clock.ts'

/** Units per dollar, and the swing in thousandths of it. Pegged currencies need no rate. */
const floating: Readonly<Record<Currency, { units: number; swing: number; decimals: number }>> = {
  EUR: { units: 0.9, swing: 35, decimals: 4 },
  JPY: { units: 150, swing: 45, decimals: 2 },
  KWD: { units: 0.307, swing: 4, decimals: 5 },
  MNT: { units: 3_520, swing: 18, decimals: 1 },
}
/** The source that the rates name. */
const source = 'https://demo.example/'
const slowWaveDays = 290
const quickWaveDays = 23

/** Stores a rate for each weekday before `until`, through the parser of the rate service. Skips days with rates. */
export async function fillRates(deps: AppDeps, start: number, until: number): Promise<void> {
  const config = { ...deps.config, fxRatesUrl: source }
  const days = Array.from({ length: Math.floor((until - start) / dayMs) + 1 }, (_, day) => day).filter((day) =>
    isWeekday(start + day * dayMs),
  )
  await Promise.all(
    days.map((day) => {
      const at = start + day * dayMs
      const bytes = new TextEncoder().encode(JSON.stringify({ base: 'USD', date: dayOf(at), rates: ratesOn(day) }))
      const safeFetch = async () => ({ status: 200, headers: new Headers(), bytes })
      return fetchRatesOfDay({ ...depsAt(deps, at), config, safeFetch })
    }),
  )
}

function isWeekday(at: number): boolean {
  const day = new Date(at).getUTCDay()
  return day !== 0 && day !== 6
}

const ratesOn = (day: number): Record<Currency, number> =>
  Object.fromEntries(
    Object.entries(floating).map(([currency, { units, swing, decimals }], nth) => {
      const wave = Math.sin((day / slowWaveDays) * 2 * Math.PI + nth) + 0.15 * Math.sin((day / quickWaveDays) * 2 * Math.PI + 2 * nth)
      return [currency, Number((units * (1 + (swing / 1_000) * wave)).toFixed(decimals))]
    }),
  )
