export type { StaffDeps } from './base.ts'
export { acceptInvitation, changeStaff, invitationOf, inviteStaff, listStaff, readStaff, removeStaff } from './service.ts'
