import { type Fetched, fetchRatesOfDay } from '../src/modules/fx/index.ts'
import type { AppDeps } from '../src/parts.ts'

/** Reads the exchange rates of the day, until they are there. */
export const fetchRates = (deps: AppDeps): Promise<Fetched> => fetchRatesOfDay(deps)
