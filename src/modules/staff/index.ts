export type { StaffDeps } from './parts.ts'
export { acceptInvitation, changeStaff, invitationOf, inviteStaff, listStaff, readStaff, removeStaff } from './service.ts'
