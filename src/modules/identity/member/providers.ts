import type { Deps } from '../../../core/deps.ts'
import { createMemberStore } from './store.ts'

export const memberProviders = ({ db }: Deps) => ({ memberStore: createMemberStore(db) })
export type MemberDeps = Deps & ReturnType<typeof memberProviders>
