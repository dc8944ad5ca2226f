/** An operator with two-factor authentication. The secret is the same in every demo, like the passwords. */
import { base32, totpCode, totpSecretBytes, totpStepAt } from '../lib/totp.ts'
import { createSuperAdmin, findUserByEmail } from '../modules/identity/merchant/index.ts'
import { beginFactor, confirmFactor, hasFactor } from '../modules/identity/second-factor/index.ts'
import type { AppDeps } from '../providers.ts'
import { bytesOf, depsAt } from './past-clock.ts'

const secret = bytesOf('second factor').subarray(0, totpSecretBytes)
export const demoTwoFactorOperator = { email: 'careful@demo.example', password: 'demo-operator', secret: base32(secret) }

/** Creates the operator and turns on the second factor, unless an earlier run has. */
export async function createTwoFactorOperator(deps: AppDeps, start: number): Promise<void> {
  const pastDeps = depsAt(deps, start)
  const { email, password } = demoTwoFactorOperator
  const { id } = (await findUserByEmail(deps, email)) ?? (await createSuperAdmin(pastDeps, { email, password }))
  if (await hasFactor(deps, id)) return
  const account = { id, email, sessionId: '', actor: { id } }
  await beginFactor({ ...pastDeps, randomBytes: () => secret }, account)
  await confirmFactor(pastDeps, account, totpCode(secret, totpStepAt(pastDeps.clock.now())))
}
