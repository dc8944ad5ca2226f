export type { SecondFactorDeps } from './parts.ts'
export {
  assertNoFactor,
  beginFactor,
  confirmFactor,
  hasFactor,
  passFactor,
  removeFactor,
} from './service.ts'
