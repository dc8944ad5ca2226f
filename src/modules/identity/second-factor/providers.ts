import type { MailDeps } from '../../messaging/mail/index.ts'
import type { AuthDeps } from '../auth/index.ts'
import { createSecondFactorStore } from './store.ts'

export const secondFactorProviders = ({ db }: AuthDeps & MailDeps) => ({ secondFactorStore: createSecondFactorStore(db) })
export type SecondFactorDeps = AuthDeps & MailDeps & ReturnType<typeof secondFactorProviders>
