import type { Deps } from '../../core/deps.ts'
import { createLenderStore } from './store.ts'

export const lenderParts = ({ db }: Deps) => ({ lenderStore: createLenderStore(db) })
export type LenderDeps = Deps & ReturnType<typeof lenderParts>
