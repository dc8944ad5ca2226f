export type { MerchantDeps } from './parts.ts'
export {
  changeUserPassword,
  createMerchant,
  createSuperAdmin,
  hasSuperAdmin,
  hasUsers,
  login,
  merchantShops,
  readMerchant,
  resetUserPassword,
  signUp,
  userWithEmail,
} from './service.ts'
