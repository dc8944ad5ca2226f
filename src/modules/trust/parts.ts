import type { Deps } from '../../core/deps.ts'
import { createTrustStore } from './store.ts'

export const trustParts = ({ db }: Deps) => ({ trustStore: createTrustStore(db) })
export type TrustDeps = Deps & ReturnType<typeof trustParts>
