export type { StaffDeps } from './deps.ts'
export { acceptInvitation, changeStaff, invitationOf, inviteStaff, listStaff, readStaff, removeStaff } from './service.ts'
