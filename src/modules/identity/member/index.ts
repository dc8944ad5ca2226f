export { findStaffInconsistencies } from './check-store.ts'
export type { MemberDeps } from './providers.ts'
export {
  addFirstOwner,
  assertBelowShopLimit,
  assertOwner,
  assignMissingOwners,
  findInvitation,
  joinAcceptedShops,
  joinShop,
  listMembers,
  membershipOf,
  readMember,
  removeMember,
  setRole,
  shopsOfMember,
  storeAcceptance,
  storeInvitation,
} from './service.ts'
