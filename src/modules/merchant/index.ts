export type { MerchantDeps } from './parts.ts'
export {
  changeUserPassword,
  createMerchant,
  createSuperAdmin,
  hasSuperAdmin,
  hasUsers,
  isMerchant,
  login,
  merchantShops,
  readMerchant,
  resetUserPassword,
  setUserPassword,
  signUp,
  userWithEmail,
  userWithId,
} from './service.ts'
