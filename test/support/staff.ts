/** Staff of a shop. */
import type { StaffRole } from '../../src/core/roles.ts'
import type { TestApp } from './app.ts'

export const staffPassword = 'a password of somebody here'
let nth = 0

/** Returns the token of an invitation's link. */
export const tokenOfUrl = (url: string): string => url.split('/').at(-1) ?? ''

/** Invites a person by the route. Mail must be off, so that the response contains the link. */
export async function invitePerson(app: TestApp, owner: { token: string }, role: StaffRole, email = `staff${++nth}@example.com`) {
  const answer = await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email, role } })
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return { id: String(answer.body.id), email, token: tokenOfUrl(String(answer.body.inviteUrl)) }
}

/** Creates a staff member: invites a person, accepts the invitation and logs in. */
export async function staffOf(app: TestApp, owner: { token: string }, role: StaffRole, email?: string) {
  const invitation = await invitePerson(app, owner, role, email)
  const joined = await app.call('POST', '/auth/invitation', { body: { token: invitation.token, password: staffPassword } })
  if (joined.status !== 200) throw new Error(`${joined.status} ${joined.text}`)
  const user = await app.deps.userStore.findByEmail(invitation.email.toLowerCase())
  if (!user) throw new Error('the invited person has no account')
  const credentials = { email: user.email, password: staffPassword }
  const login = await app.call('POST', '/merchant/login', { body: credentials })
  if (login.status !== 200) throw new Error(`${login.status} ${login.text}`)
  return { id: user.id, staffId: invitation.id, ...credentials, token: login.body.data.accessToken as string }
}
