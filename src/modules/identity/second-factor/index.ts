export type { SecondFactorDeps } from './providers.ts'
export {
  assertNoFactor,
  beginFactor,
  confirmFactor,
  factorOf,
  hasFactor,
  passFactor,
  removeFactor,
} from './service.ts'
