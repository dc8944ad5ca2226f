export {
  confirmMasterKeys,
  countSealed,
  faultySeals,
  firstVersion,
  hasSealedSecrets,
  missingMasterKeys,
  resealSecrets,
  type SealFault,
  versionsInUse,
} from './service.ts'
