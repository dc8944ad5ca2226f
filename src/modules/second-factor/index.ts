export type { SecondFactorDeps } from './parts.ts'
export {
  assertNoFactor,
  beginFactor,
  confirmFactor,
  factorOf,
  hasFactor,
  passFactor,
  removeFactor,
} from './service.ts'
