export { memberFindings } from './check-store.ts'
export type { MemberDeps } from './providers.ts'
export {
  addFirstOwner,
  adoptShops,
  assertOwner,
  invitedMember,
  joinAccepted,
  joinShop,
  keepAcceptance,
  keepInvitation,
  listMembers,
  placeOfMember,
  readMember,
  removeMember,
  setRole,
  shopsOfMember,
} from './service.ts'
