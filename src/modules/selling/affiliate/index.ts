export type { AffiliateDeps } from './providers.ts'
export {
  affiliateOf,
  approveCommissions,
  attributeOrder,
  changeAffiliate,
  createAffiliate,
  forgetOldClicks,
  listAffiliates,
  type ReferringDeps,
  recordClick,
  removeCommission,
  reverseCommission,
} from './service.ts'
