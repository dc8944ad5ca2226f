export type { SecondFactorDeps } from './providers.ts'
export {
  assertNoFactor,
  beginFactor,
  checkFactor,
  confirmFactor,
  hasFactor,
  readFactor,
  removeFactor,
} from './service.ts'
