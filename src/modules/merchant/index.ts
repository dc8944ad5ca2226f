export type { MerchantDeps } from './parts.ts'
export {
  changeUserPassword,
  checkUserPassword,
  createMerchant,
  createSuperAdmin,
  hasSuperAdmin,
  hasUsers,
  isMerchant,
  login,
  merchantShops,
  readMerchant,
  removeSecondFactor,
  resetUserPassword,
  setUserPassword,
  signUp,
  userWithEmail,
  userWithId,
} from './service.ts'
