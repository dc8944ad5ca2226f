import { exampleOf } from '../forms/amounts.ts'
import { catalog, type PlainKey } from './catalog.ts'
import type en from './en.ts'

/** Texts that all screens share; loaded before the first screen. */
export const common = catalog({ en: () => import('./en.ts'), ar: () => import('./ar.ts'), mn: () => import('./mn.ts') })

export type CommonKey = PlainKey<typeof en>

/** Returns the name of an API state, or the state if it has no text. */
export const stateName = (state: string): string => common.find(`state.${state}`) ?? state

/** Returns the error of an invalid amount. */
export const invalidAmountText = (currency: string): string => common('notAmount', { currency, example: exampleOf(currency) })
