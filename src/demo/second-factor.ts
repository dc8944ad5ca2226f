/** An operator with two-factor authentication. The secret is the same in every demo, like the passwords. */
import { base32, totpCode, totpSecretBytes, totpStepAt } from '../lib/totp.ts'
import { createSuperAdmin, findUserByEmail } from '../modules/identity/merchant/index.ts'
import { beginFactor, confirmFactor, hasFactor } from '../modules/identity/second-factor/index.ts'
import type { AppDeps } from '../providers.ts'
import { bytesOf, inThePast } from './past-clock.ts'

const secret = bytesOf('second factor').subarray(0, totpSecretBytes)
export const demoCarefulOperator = { email: 'careful@demo.example', password: 'demo-operator', secret: base32(secret) }

export async function makeCarefulOperator(deps: AppDeps, start: number): Promise<void> {
  const past = inThePast(deps, start)
  const { email, password } = demoCarefulOperator
  const { id } = (await findUserByEmail(deps, email)) ?? (await createSuperAdmin(past, { email, password }))
  if (await hasFactor(deps, id)) return
  const who = { id, email, sessionId: '', actor: { id } }
  await beginFactor({ ...past, randomBytes: () => secret }, who)
  await confirmFactor(past, who, totpCode(secret, totpStepAt(past.clock.now())))
}
