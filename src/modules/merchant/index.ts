export type { MerchantDeps } from './parts.ts'
export {
  createMerchant,
  createSuperAdmin,
  hasSuperAdmin,
  hasUsers,
  login,
  merchantShops,
  readMerchant,
  signUp,
  userWithEmail,
} from './service.ts'
