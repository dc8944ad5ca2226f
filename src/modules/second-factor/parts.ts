import type { AuthDeps } from '../auth/index.ts'
import { createSecondFactorStore } from './store.ts'

export const secondFactorParts = ({ db }: AuthDeps) => ({ secondFactorStore: createSecondFactorStore(db) })
export type SecondFactorDeps = AuthDeps & ReturnType<typeof secondFactorParts>
