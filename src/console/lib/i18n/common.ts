import { exampleOf } from '../forms/amounts.ts'
import { catalog } from './catalog.ts'

/** Texts that all screens share; loaded before the first screen. */
export const common = catalog({ en: () => import('./en.ts'), ar: () => import('./ar.ts'), mn: () => import('./mn.ts') })

export type CommonKey = Parameters<typeof common>[0]

/** Returns the name of an API state, or the state if it has no text. */
export const stateName = (state: string): string => {
  const key = `state.${state}`
  return common.has(key) ? common(key) : state
}

/** Returns the error of an invalid amount. */
export const invalidAmountText = (currency: string): string => common('notAmount', { currency, example: exampleOf(currency) })
