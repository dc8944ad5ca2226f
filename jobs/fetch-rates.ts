import type { AppDeps } from '../src/app.ts'
import { type Fetched, fetchRatesOfDay } from '../src/modules/fx/service.ts'

/** Reads the exchange rates of the day, until they are there. */
export const fetchRates = (deps: AppDeps): Promise<Fetched> => fetchRatesOfDay(deps)
