import type { Deps } from '../../../core/deps.ts'
import type { OrderDeps } from '../../selling/order/index.ts'
import { createAgentSessionStore } from './store.ts'

export const agentSessionProviders = ({ db }: Pick<Deps, 'db'>) => ({ agentSessionStore: createAgentSessionStore(db) })
export type AgentSessionDeps = OrderDeps & ReturnType<typeof agentSessionProviders>
