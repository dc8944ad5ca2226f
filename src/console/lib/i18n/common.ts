import { exampleOf } from '../forms/amounts.ts'
import { catalog } from './catalog.ts'

/** What every screen says; loaded before the first one. */
export const common = catalog({ en: () => import('./en.ts'), ar: () => import('./ar.ts'), mn: () => import('./mn.ts') })

/** A state of the API in words; one that is new here, as it stands. */
export const stateName = (state: string): string => {
  const key = `state.${state}`
  return common.has(key) ? common(key) : state
}

/** What is said of a text that is no amount of a currency. */
export const notAmount = (currency: string): string => common('notAmount', { currency, example: exampleOf(currency) })
