export {
  confirmMasterKeys,
  countSealed,
  faultySeals,
  hasSealedSecrets,
  missingMasterKeys,
  resealSecrets,
  type SealFault,
  versionsInUse,
} from './service.ts'
