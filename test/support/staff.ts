/** People who work in a shop of an app under test. */
import { system } from '../../src/core/change.ts'
import type { StaffRole } from '../../src/core/roles.ts'
import { startSession } from '../../src/modules/auth/service.ts'
import type { TestApp } from './app.ts'

export const staffPassword = 'a password of somebody here'
let nth = 0

/** The token of the link that an invitation was answered with. */
export const tokenOfUrl = (url: string): string => url.split('/').at(-1) ?? ''

/** Invites somebody by the route; without mails, so that the answer has the link. */
export async function invited(app: TestApp, owner: { token: string }, role: StaffRole, email = `staff${++nth}@example.com`) {
  const answer = await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email, role } })
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return { id: String(answer.body.id), email, token: tokenOfUrl(String(answer.body.inviteUrl)) }
}

/** Somebody who has joined, and is logged in. */
export async function staffOf(app: TestApp, owner: { token: string }, role: StaffRole, email?: string) {
  const invitation = await invited(app, owner, role, email)
  const joined = await app.call('POST', '/auth/invitation', { body: { token: invitation.token, password: staffPassword } })
  if (joined.status !== 200) throw new Error(`${joined.status} ${joined.text}`)
  const user = await app.deps.userStore.findByEmail(invitation.email.toLowerCase())
  if (!user) throw new Error('joined, and nobody')
  const { data } = await startSession(app.deps, { id: user.id, role: 'MERCHANT' }, system)
  return { id: user.id, staffId: invitation.id, email: user.email, password: staffPassword, token: data.accessToken }
}
