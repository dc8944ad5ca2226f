export {
  confirmMasterKeys,
  countSealed,
  findFaultySeals,
  hasSealedSecrets,
  instanceIdentity,
  missingMasterKeys,
  resealSecrets,
  type SealFault,
  versionsInUse,
} from './service.ts'
