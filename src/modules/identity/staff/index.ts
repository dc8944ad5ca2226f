export type { StaffDeps } from './deps.ts'
export { acceptInvitation, changeStaff, findInvitationToken, inviteStaff, listStaff, readStaff, removeStaff } from './service.ts'
